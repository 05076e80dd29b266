import { UnsupportedRuntimeError } from '../errors/index.ts';

/** The promise API of the file system, in Node, Bun and Deno. */
export type FileSystem = typeof import('node:fs/promises');

/**
 * Loads a built-in module of Node. An import would break bundles for browsers and Workers.
 *
 * @throws {UnsupportedRuntimeError} if there is none
 */
export function builtin(id: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition, @typescript-eslint/unbound-method -- there may be no process
  const load = globalThis.process?.getBuiltinModule as ((id: string) => unknown) | undefined;
  const found = load?.(id);
  if (found !== undefined) return found;
  throw new UnsupportedRuntimeError(
    'saveTo needs a file system (Node 20.16 or later, Bun or Deno). Elsewhere, read the body of the recording',
  );
}

/**
 * Loads the file system.
 *
 * @throws {UnsupportedRuntimeError} if there is none
 */
export function fileSystem(): FileSystem {
  return builtin('node:fs/promises') as FileSystem;
}

/** Makes a path absolute. @throws {UnsupportedRuntimeError} if there is no file system */
export function absolute(path: string): string {
  return (builtin('node:path') as typeof import('node:path')).resolve(path);
}
