import type { OpenedRecording } from '../opened.ts';
import type { FileSystem } from './file-system.ts';

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

/** Whether two notes speak of the same bytes, as far as anything tells: without any sign, no. */
export function isSame(a: PartNote, b: PartNote): boolean {
  const signs = ['total', 'etag', 'lastModified'] as const;
  return (
    a.id === b.id &&
    signs.every((sign) => a[sign] === b[sign]) &&
    (a.total !== undefined || validatorOf(a) !== undefined)
  );
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
