import { InvalidResponseError } from '../errors/index.ts';
import { expectedLength } from '../http/body.ts';
import type { OpenResponse } from '../http/transport.ts';

/** A recording, or the rest of one, whose bytes have begun to arrive. */
export interface OpenedRecording {
  readonly body: ReadableStream<Uint8Array>;
  /** The index of the body's first byte in the whole recording. */
  readonly start: number;
  /** The size of the whole recording, in bytes, where it is known. */
  readonly total: number | undefined;
  readonly contentType: string | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** False when the service says that it serves no ranges, or compresses the bytes. */
  readonly resumable: boolean;
}

const contentRange = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/;

/**
 * Reads the headers of a download.
 *
 * @param asked whether a part was asked for
 * @throws {InvalidResponseError} when a 206 answer was not asked for, or does not say what it has
 */
export function readOpened({ response, body }: OpenResponse, asked: boolean): OpenedRecording {
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  const length = expectedLength(response);
  let start = 0;
  let total = length;
  if (response.status === 206) {
    const range = contentRange.exec(header('content-range') ?? '');
    if (range === null || !asked) {
      void body.cancel().catch(() => undefined);
      throw new InvalidResponseError(
        `the service sent a part of the recording ${asked ? 'without a Content-Range' : 'unasked'}`,
      );
    }
    start = Number(range[1]);
    total = range[3] === '*' ? undefined : Number(range[3]);
  }
  const encoding = header('content-encoding') ?? 'identity';
  return {
    body,
    start,
    total,
    contentType: header('content-type'),
    etag: header('etag'),
    lastModified: header('last-modified'),
    resumable: encoding === 'identity' && header('accept-ranges') !== 'none',
  };
}
