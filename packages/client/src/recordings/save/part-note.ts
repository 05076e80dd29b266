import type { OpenedRecording } from '../opened.ts';
import type { FileSystem } from '../../files/file-system.ts';

/** What an unfinished file is a part of; kept beside it as JSON. */
export interface PartNote {
  readonly id: string;
  readonly total: number | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** Describes the recording that is being downloaded. */
export function noteOf(id: string, opened: OpenedRecording): PartNote {
  const { total, etag, lastModified } = opened;
  return { id, total, etag, lastModified };
}

/**
 * What `If-Range` may hold: an ETag unless it is a weak one, else the date.
 */
export function validatorOf(note: PartNote): string | undefined {
  if (note.etag?.startsWith('"')) return note.etag;
  return note.lastModified;
}

/** Whether anything in a note tells its recording from another version of it. */
export function canTell(note: PartNote): boolean {
  return note.total !== undefined || validatorOf(note) !== undefined;
}

/** Whether two notes speak of the same bytes, as far as anything tells: without any sign, no. */
export function isSame(a: PartNote, b: PartNote): boolean {
  const signs = ['id', 'total', 'etag', 'lastModified'] as const;
  return canTell(a) && signs.every((sign) => a[sign] === b[sign]);
}

/** Writes the note. Renamed into its place, so that it is whole, and a planted link is not followed. */
export async function writeNote(fs: FileSystem, path: string, note: PartNote): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    await fs.writeFile(draft, JSON.stringify(note), { mode: 0o600, flag: 'wx' });
    await fs.rename(draft, path);
  } catch (error) {
    await fs.rm(draft, { force: true });
    throw error;
  }
}

/** Reads the note beside an unfinished file; undefined when there is none that can be read. */
export async function readNote(fs: FileSystem, path: string): Promise<PartNote | undefined> {
  try {
    const value: unknown = JSON.parse(await fs.readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as PartNote) : undefined;
  } catch {
    return undefined;
  }
}
