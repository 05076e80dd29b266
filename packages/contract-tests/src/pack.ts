import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Packs a package as it is published. It has to be built.
 * @param name of its folder in `packages`
 * @param folder where the file is written
 * @returns the file
 */
export async function pack(
  name: string,
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const args = ['pack', '--json', '--pack-destination', folder, `./packages/${name}`];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, env });
  const [{ filename = '' } = {}] = JSON.parse(stdout) as { filename?: string }[];
  return join(folder, filename.replace('@', '').replace('/', '-'));
}
