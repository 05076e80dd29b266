import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own that is soon full: a tmpfs. */
export interface SmallDisk {
  readonly path: string;
  /** Nothing may use it any more. */
  remove(): void;
}

/**
 * Mounts one; `undefined` where this user may not mount.
 * @param owner a user of the machine
 */
export function smallDisk(kilobytes: number, owner: string): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'call-webhooks-disk-'));
  try {
    const options = `size=${String(kilobytes)}k,mode=700,uid=${owner}`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    rmdirSync(path);
    return undefined;
  }
  return {
    path,
    remove() {
      execFileSync('umount', [path]);
      rmdirSync(path);
    },
  };
}
