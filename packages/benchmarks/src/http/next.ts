import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { THIS_VERSION } from '../checkout.ts';

const require = createRequire(import.meta.url);

/** Declared here, because Next's own types change those of `process.env` for all packages. */
type Next = (options: { dev: boolean; dir: string }) => {
  prepare(): Promise<void>;
  getRequestHandler(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

/** The app with the two routes, `/bare` and `/ours`. */
const appOf = (root: string) => `${root}/packages/benchmarks/next-app`;

/** Builds the app of a checkout with `next build`. */
export async function buildNextApp(root: string): Promise<void> {
  const next = createRequire(`${root}/package.json`).resolve('next/dist/bin/next');
  const env = { ...process.env, NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1' };
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: appOf(root), env });
}

/** Next in production, with every request sent to one of its routes. */
async function listen(root: string, route: string) {
  const next = require('next') as Next;
  const app = next({ dev: false, dir: appOf(root) });
  await app.prepare();
  const handler = app.getRequestHandler();
  return createServer((request, response) => {
    request.url = route;
    void handler(request, response);
  }).listen(0, '127.0.0.1');
}

export const servers = {
  /** A route handler that collects the body and responds. */
  'next route': () => listen(THIS_VERSION, '/bare'),
  'next + call-webhooks': (root: string) => listen(root, '/ours'),
};
