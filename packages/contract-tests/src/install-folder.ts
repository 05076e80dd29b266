import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const INSTALL = fileURLToPath(new URL('../../../scripts/install.mjs', import.meta.url));

/** Installs an app that a test builds and that has a lock file of its own, unless that was done before. */
export async function installFolder(folder: string): Promise<void> {
  await promisify(execFile)(process.execPath, [INSTALL, folder]);
}
