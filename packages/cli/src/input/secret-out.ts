import { open, rename, rm } from 'node:fs/promises';
import { environment } from '../cli-error.ts';
import { formatSecrets, type FiledSecret } from './secret-file.ts';

const failed = (path: string, error: unknown) =>
  environment(
    `The secret file ${path} can't be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`,
  );

/**
 * Replaces a file of secrets in one step; nobody but its owner may read it.
 * @throws CliError 3
 */
export async function replaceSecretFile(
  path: string,
  secrets: readonly FiledSecret[],
): Promise<void> {
  const beside = `${path}.${String(process.pid)}.tmp`;
  try {
    const file = await open(beside, 'w', 0o600);
    try {
      await file.writeFile(formatSecrets(secrets));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw failed(path, error);
  }
}

/** The same for secrets that all count. @throws CliError 3 */
export const writeSecrets = (path: string, secrets: readonly string[]): Promise<void> =>
  replaceSecretFile(
    path,
    secrets.map((secret) => ({ secret })),
  );
