// `node scripts/install.mjs FOLDER… [options of npm ci]` installs the packages of folders with lock files
// of their own. `test-sequencer.mjs` does it for the folders of tests.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What npm tells the scripts that it runs about its own folder, which is not this one. */
const OF_ANOTHER_FOLDER =
  /^npm_config_(?:(?:local_)?prefix|workspace.*|include_workspace_root|engine_strict)$/i;

/** The environment in which npm works in another folder than that of the script that it runs. */
export const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_ANOTHER_FOLDER.test(name)));

/**
 * Installs them if they are missing or the lock file is newer, and says so.
 * @throws Error when npm fails
 */
export function install(folder, options = []) {
  const lock = join(folder, 'package-lock.json');
  const installed = join(folder, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.error(`Installing the packages of ${folder}`);
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', ...options], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`);
}

const [, program, ...given] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const isOption = (arg) => arg.startsWith('-');
  for (const folder of given.filter((arg) => !isOption(arg)))
    install(folder, given.filter(isOption));
}
