import { UnsupportedRuntimeError } from '../../errors/index.ts';

/** The file system's promises, as Node, Bun and Deno have them. */
export type FileSystem = typeof import('node:fs/promises');

/**
 * Finds the file system without an import of a Node built-in, which would break bundles for
 * browsers and Workers.
 *
 * @throws {UnsupportedRuntimeError} where there is none
 */
export function fileSystem(): FileSystem {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition, @typescript-eslint/unbound-method -- there may be no process
  const builtin = globalThis.process?.getBuiltinModule as ((id: string) => unknown) | undefined;
  const found = builtin?.('node:fs/promises') as FileSystem | undefined;
  if (found !== undefined) return found;
  throw new UnsupportedRuntimeError(
    'saveTo needs a file system: Node from 20.16, Bun or Deno. Elsewhere, read the body of the recording',
  );
}
