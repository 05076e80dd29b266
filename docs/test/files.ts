import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.next', '.samples', '.pages']);

/** The files of a folder and those below it, by their paths from the root of the repository. */
export const filesIn = (folder: string, extension: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesIn(path, extension);
    return entry.name.endsWith(extension) ? [path] : [];
  });

/** Every Markdown file, by its path from the root of the repository. */
export const documents = (): string[] => filesIn('.', '.md');

/** Every source file of the packages and examples, without tests and what is generated. */
export const sources = (): string[] =>
  [...filesIn('packages', '.ts'), ...filesIn('examples', '.ts')].filter(
    (file) => !/(^|\/)test\/|\.generated\.ts$|\.d\.ts$/.test(file),
  );

/** The text of a file, by its path from the root of the repository. */
export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
