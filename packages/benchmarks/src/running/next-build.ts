import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { NEXT_APP } from '../http/next-app.ts';

/** Builds the app of the Next contenders, as \`next build\` does for a user. */
export async function buildNextApp(): Promise<void> {
  const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
  const env = { ...process.env, NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1' };
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: NEXT_APP, env });
}
