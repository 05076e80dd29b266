import { ApiError, InvalidResponseError } from '../../errors/index.ts';
import type { OpenedRecording, RecordingSource } from '../source.ts';
import { isSame, noteOf, validatorOf, type PartNote } from './part-note.ts';

/** How many bytes of an unfinished file can be kept: 0 if it is of another recording. */
export function usableBytes(
  size: number,
  left: PartNote | undefined,
  current: PartNote,
  resumable: boolean,
): number {
  if (left === undefined || !resumable || !isSame(left, current)) return 0;
  return current.total !== undefined && size > current.total ? 0 : size;
}

/**
 * Requests what is missing. The response starts at `start`, or at 0 if the service sends the whole
 * recording again because it serves no ranges, or the recording has changed.
 *
 * @throws {InvalidResponseError} if the service sends another part
 */
export async function openRest(
  source: RecordingSource,
  start: number,
  note: PartNote,
  signal: AbortSignal | undefined,
): Promise<OpenedRecording> {
  if (start === 0) return source.open(signal);
  let opened: OpenedRecording;
  try {
    opened = await source.open(signal, { start, validator: validatorOf(note) });
  } catch (error) {
    if (error instanceof ApiError && error.status === 416) return source.open(signal);
    throw error;
  }
  if (opened.start === 0) return opened;
  const sameSize =
    opened.total === undefined || opened.total === note.total || note.total === undefined;
  const sameTag = opened.etag === undefined || opened.etag === note.etag;
  if (opened.start === start && sameSize && sameTag && opened.resumable)
    return { ...opened, total: opened.total ?? note.total };
  await opened.body.cancel();
  // Some services ignore If-Range. A part of another recording must not be appended, and neither must
  // compressed bytes.
  if (opened.start === start) return source.open(signal);
  throw new InvalidResponseError(
    'the service sent another part of the recording than the requested one',
  );
}

/** The note for what is arriving now. A 206 response may omit headers of the first response. */
export function noteFor(
  source: RecordingSource,
  opened: OpenedRecording,
  before: PartNote,
): PartNote {
  return opened.start === 0 ? noteOf(source.id, opened) : before;
}
