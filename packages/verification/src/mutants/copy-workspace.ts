import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCOPE = '@call-webhooks';
const ROOT_FILES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'tsconfig.test.json',
  'jest.config.ts',
];

/**
 * Copies some packages to a temporary folder, in which their sources can be changed and their tests can
 * run. They find each other in the copy, and everything else where it is installed.
 * @param root the repository's root
 * @param packages names of folders in `packages`
 * @returns the folder; the caller removes it
 */
export function copyWorkspace(root: string, packages: readonly string[]): string {
  const home = mkdtempSync(join(tmpdir(), 'mutants-'));
  for (const file of ROOT_FILES) cpSync(join(root, file), join(home, file));
  mkdirSync(join(home, 'examples'));
  cpSync(join(root, 'docs'), join(home, 'docs'), { recursive: true });
  for (const name of packages) {
    const [from, to] = [join(root, 'packages', name), join(home, 'packages', name)];
    const filter = (path: string) => !/\/(dist|node_modules)$/.test(path);
    cpSync(from, to, { recursive: true, filter });
    const own = join(from, 'node_modules');
    if (existsSync(own)) symlinkSync(own, join(to, 'node_modules'));
  }
  const [from, to] = [join(root, 'node_modules'), join(home, 'node_modules')];
  mkdirSync(join(to, SCOPE), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== SCOPE) symlinkSync(join(from, name), join(to, name));
  for (const name of packages) symlinkSync(join(home, 'packages', name), join(to, SCOPE, name));
  return home;
}
