// `node scripts/install.mjs FOLDER [options of npm ci]` installs the packages of a folder with a lock file
// of its own, such as `site`, if they are missing or its lock file is newer.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder, ...options] = process.argv;
const lock = join(folder, 'package-lock.json');
const installed = join(folder, 'node_modules/.package-lock.json');
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  console.log(`Installing the packages of ${folder}`);
  const { status } = spawnSync('npm', ['ci', ...options], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}
