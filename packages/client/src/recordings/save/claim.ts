import { ConfigurationError } from '../../errors/index.ts';
import { lockFile } from '../../files/lock-file.ts';

/**
 * Takes a part that may be continued, for one download: two of them would cut off and rename each
 * other's bytes.
 *
 * @param part an absolute path
 * @returns gives it back
 * @throws {ConfigurationError} when it is taken, by this process or another
 */
export async function claim(part: string): Promise<() => Promise<void>> {
  const { holder, release } = await lockFile(`${part}.lock`);
  if (release) return release;
  if (holder.pid === globalThis.process.pid)
    throw new ConfigurationError('another download of this process is saving to this path');
  throw new ConfigurationError(
    `process ${holder.pid} on ${holder.host} is saving to this path: wait for it, or save to another path. If that process is gone for sure, remove the file that ends in .part.lock`,
  );
}
