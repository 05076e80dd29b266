import type { FileSystem } from '../../files/file-system.ts';

/** The unfinished file beside the final one. */
export interface PartFile {
  readonly path: string;
  /** Its size, in bytes. */
  size(): Promise<number>;
  /** Cuts it to `size` bytes. */
  truncate(size: number): Promise<void>;
  /** Writes all of `bytes` at `position`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Writes it to the disk and gives it its final name. */
  finish(finalPath: string): Promise<void>;
  /** Closes it, and removes it unless it is kept to be continued. */
  abandon(keep: boolean): Promise<void>;
}

/**
 * Opens the unfinished file: `<path>.part` if it may be continued, else one with a random name, so
 * that two downloads to one path do not mix. An existing file loses permissions beyond `mode`.
 */
export async function openPart(
  fs: FileSystem,
  path: string,
  resume: boolean,
  mode: number,
): Promise<PartFile> {
  const part = resume ? `${path}.part` : `${path}.${crypto.randomUUID()}.part`;
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
  // The name `<path>.part` is predictable, so a link that somebody planted must not be followed.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- Windows has no O_NOFOLLOW
  const flags = O_RDWR | O_CREAT | (resume ? (O_NOFOLLOW ?? 0) : O_EXCL);
  const file = await fs.open(part, flags, mode);
  try {
    const now = (await file.stat()).mode & 0o777;
    if ((now & ~mode) !== 0) await file.chmod(now & mode);
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    path: part,
    size: async () => (await file.stat()).size,
    truncate: (size) => file.truncate(size),
    async write(bytes, position) {
      for (let done = 0; done < bytes.byteLength;) {
        const { bytesWritten } = await file.write(bytes, done, undefined, position + done);
        done += bytesWritten;
      }
    },
    async finish(finalPath) {
      await file.sync();
      await file.close();
      await fs.rename(part, finalPath);
    },
    async abandon(keep) {
      await file.close().catch(() => undefined);
      if (!keep) await fs.rm(part, { force: true });
    },
  };
}
