import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** When a file was written last, or 0 if there is none. */
const writtenAt = (file: string) =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/**
 * Installs a folder that has a lock file of its own, unless it is installed as that lock file says. Such
 * folders have what a single suite needs, so that nobody else installs it.
 */
export async function installFolder(folder: string): Promise<void> {
  // npm writes it at the end of an installation.
  const installed = await writtenAt(join(folder, 'node_modules/.package-lock.json'));
  if (installed > (await writtenAt(join(folder, 'package-lock.json')))) return;
  await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
}
