import type { FileSystem } from '../../files/file-system.ts';
import type { OpenedRecording } from '../source.ts';

/** Identifies the recording of an unfinished file. Kept beside the file as JSON. */
export interface PartNote {
  readonly id: string;
  readonly total: number | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** The note for a recording that is being downloaded. */
export function noteOf(id: string, opened: OpenedRecording): PartNote {
  const { total, etag, lastModified } = opened;
  return { id, total, etag, lastModified };
}

/** The value for `If-Range`: the ETag unless it is weak, else the date. */
export function validatorOf(note: PartNote): string | undefined {
  if (note.etag?.startsWith('"')) return note.etag;
  return note.lastModified;
}

/** Whether anything in a note tells its recording from another version of it. */
export function canIdentify(note: PartNote): boolean {
  return note.total !== undefined || validatorOf(note) !== undefined;
}

/** Whether two notes are of the same bytes. Without a size or a validator they are not. */
export function isSame(a: PartNote, b: PartNote): boolean {
  const signs = ['id', 'total', 'etag', 'lastModified'] as const;
  return canIdentify(a) && signs.every((sign) => a[sign] === b[sign]);
}

/** Writes the note under another name and renames it: it is complete, and no link is followed. */
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

/** Reads the note beside an unfinished file. Undefined if there is none, or it is damaged. */
export async function readNote(fs: FileSystem, path: string): Promise<PartNote | undefined> {
  try {
    const value: unknown = JSON.parse(await fs.readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as PartNote) : undefined;
  } catch {
    return undefined;
  }
}
