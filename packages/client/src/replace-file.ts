import { ConfigurationError } from './errors.ts';

type FileSystem = typeof import('node:fs/promises');
/** A file that is open for writing. */
export type File = Awaited<ReturnType<FileSystem['open']>>;

/**
 * Replaces a file in one step, for example the file of a `SecretStore`. A reader finds either the old
 * content or the whole new one, even after a crash. Only the owner may read the file.
 *
 * @throws {ConfigurationError} `unsupported-runtime` if there is no file system
 * @throws the error of the file system; the old file is then unchanged
 */
export function replaceFile(path: string, content: string): Promise<void> {
  return writeInOneStep(path, 0o600, (file) => file.writeFile(content));
}

/** Writes to a unique name next to `path`, and renames the file at the end. */
export async function writeInOneStep<T>(
  path: string,
  mode: number,
  write: (file: File) => Promise<T>,
): Promise<T> {
  const fs = fileSystem();
  const part = `${path}.${crypto.randomUUID()}.part`;
  const file = await fs.open(part, 'wx', mode);
  try {
    const result = await write(file);
    await file.sync();
    await file.close();
    await fs.rename(part, path);
    return result;
  } catch (error) {
    await file.close().catch(() => undefined);
    await fs.rm(part, { force: true });
    throw error;
  }
}

/** Loads the file system. An import would break bundles for browsers and Workers. */
function fileSystem(): FileSystem {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition, @typescript-eslint/unbound-method -- there may be no process
  const load = globalThis.process?.getBuiltinModule as ((id: string) => unknown) | undefined;
  const found = load?.('node:fs/promises');
  if (found !== undefined) return found as FileSystem;
  throw new ConfigurationError(
    'this needs a file system (Node 20.16 or later, Bun or Deno). Without one, read the body of a recording instead',
    'unsupported-runtime',
  );
}
