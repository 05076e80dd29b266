import { ConfigurationError } from '../../errors/index.ts';

const taken = new Set<string>();

/**
 * Takes a part that may be continued, for one download of this process: two of them would cut off
 * and rename each other's bytes.
 *
 * @param part an absolute path
 * @returns gives it back
 * @throws {ConfigurationError} when it is taken
 */
export function claim(part: string): () => void {
  if (taken.has(part)) {
    throw new ConfigurationError('another download of this process is saving to this path');
  }
  taken.add(part);
  return () => void taken.delete(part);
}
