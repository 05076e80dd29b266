import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Where scripts/test-on-node.mjs keeps its versions. */
const CACHE = fileURLToPath(
  new URL('../../../node_modules/.cache/node-versions/24', import.meta.url),
);
const NODE = join(CACHE, 'node_modules/node/bin/node');

/** Node 24, from npm's package `node`: some frameworks do not run on the oldest Node that we support. */
export async function newestNode(): Promise<string> {
  if (existsSync(NODE)) return NODE;
  await mkdir(CACHE, { recursive: true });
  await writeFile(join(CACHE, 'package.json'), '{ "private": true }\n');
  // The package installs its binary with a script, and npm itself runs on the installed Node.
  const options = ['--no-audit', '--no-fund', '--ignore-scripts=false', '--engine-strict=false'];
  await promisify(execFile)('npm', ['install', ...options, 'node@24'], { cwd: CACHE });
  return NODE;
}
