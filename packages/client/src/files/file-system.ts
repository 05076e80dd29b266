import { UnsupportedRuntimeError } from '../errors/index.ts';

/** The file system's promises, as Node, Bun and Deno have them. */
export type FileSystem = typeof import('node:fs/promises');

/** A built-in of Node, not imported: that would break bundles for browsers and Workers. */
export function builtin(id: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition, @typescript-eslint/unbound-method -- there may be no process
  const load = globalThis.process?.getBuiltinModule as ((id: string) => unknown) | undefined;
  const found = load?.(id);
  if (found !== undefined) return found;
  throw new UnsupportedRuntimeError(
    'saveTo needs a file system: Node from 20.16, Bun or Deno. Elsewhere, read the body of the recording',
  );
}

/**
 * Finds the file system.
 *
 * @throws {UnsupportedRuntimeError} where there is none
 */
export function fileSystem(): FileSystem {
  return builtin('node:fs/promises') as FileSystem;
}

/** @throws {UnsupportedRuntimeError} where there is no file system */
export function absolute(path: string): string {
  return (builtin('node:path') as typeof import('node:path')).resolve(path);
}
