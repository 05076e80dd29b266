import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import validateName from 'validate-npm-package-name';
import { CreateError, EXIT } from './io.ts';

/** What a new folder may have: it says nothing about its purpose. */
const IGNORED = new Set(['.git', '.DS_Store']);

/** Only its owner can read it. */
const SECRET = 0o600;

/** Whether an app can be created there without touching what is there. @throws CreateError 2 for a file */
export function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).every((name) => IGNORED.has(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'ENOTDIR') throw new CreateError(EXIT.badInput, `${folder} is not a folder.`);
    throw error;
  }
}

/** Why npm would refuse a name, or `undefined` if it would not. */
export function problemOfName(name: string): string | undefined {
  const { validForNewPackages, errors = [], warnings = [] } = validateName(name);
  return validForNewPackages ? undefined : [...errors, ...warnings].join('; ');
}

/** The name of a package in a folder: valid, if one can be made of the folder's. */
export const nameOf = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z\d~-]+/g, '-')
    .replace(/^-+|-+$/g, '');

/**
 * Writes all files, or none: if one can't be written, what was written before is undone. It does not
 * wait for anything in between, so Ctrl-C does not interrupt it.
 * @throws CreateError 1
 */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  const undo: (() => void)[] = [];
  try {
    for (const [path, content] of files) {
      const file = join(folder, path);
      const parent = mkdirSync(dirname(file), { recursive: true }); // the first that did not exist
      if (parent !== undefined) undo.push(() => rmSync(parent, { recursive: true, force: true }));
      const before = existsSync(file)
        ? { content: readFileSync(file), mode: statSync(file).mode }
        : undefined;
      undo.push(() => {
        rmSync(file, { force: true });
        if (before) writeFileSync(file, before.content, { mode: before.mode });
      });
      const isSecret = path === '.env';
      if (isSecret && before) chmodSync(file, SECRET);
      writeFileSync(file, content, isSecret ? { mode: SECRET } : {});
    }
  } catch (error) {
    for (const step of undo.reverse()) step();
    const { message } = error as Error;
    throw new CreateError(EXIT.failed, `Nothing was created: ${message}`);
  }
}
