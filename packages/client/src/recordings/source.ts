import { sleep } from '../clock.ts';
import { InvalidResponseError } from '../errors/index.ts';
import { expectedLength } from '../http/body.ts';
import { describe, type RequestSpec } from '../http/request.ts';
import { backoff } from '../http/retry.ts';
import type { OpenResponse, Transport } from '../http/transport.ts';
import type { Settings } from '../settings.ts';

/** A recording, or the rest of one, whose headers have arrived. */
export interface OpenedRecording {
  readonly body: ReadableStream<Uint8Array>;
  /** The index of the body's first byte in the whole recording. */
  readonly start: number;
  /** The size of the whole recording in bytes, if it is known. */
  readonly total: number | undefined;
  readonly contentType: string | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** False if the service says that it serves no ranges, or compresses the bytes. */
  readonly resumable: boolean;
}

/** The rest of a download: the bytes from `start` on, if the recording is still the same. */
export interface ResumePoint {
  /** The first byte that is missing. */
  readonly start: number;
  /** An ETag or a date for `If-Range`. Without it only the sizes are compared. */
  readonly validator: string | undefined;
}

/** Requests the bytes of a recording, as often as needed. */
export interface RecordingSource {
  /** Names the recording in the note beside an unfinished file. */
  readonly id: string;
  /** Requests the recording, or the rest of it. */
  open(signal: AbortSignal | undefined, from?: ResumePoint): Promise<OpenedRecording>;
  /** The time to wait before reconnection number `retry`, in ms. Undefined if there are no more. */
  delay(retry: number): number | undefined;
  /** Waits, in ms. */
  pause(delay: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Creates the source of a recording from its URL, which is of the configured origin. */
export function recordingSource(
  settings: Settings,
  transport: Transport,
  url: URL,
  anyContentType: boolean,
): RecordingSource {
  return {
    id: url.pathname,
    async open(signal, from) {
      // Compressed bytes can be neither counted nor resumed.
      const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
      if (from !== undefined) headers['range'] = `bytes=${from.start}-`;
      if (from?.validator !== undefined) headers['if-range'] = from.validator;
      const spec = { method: 'GET', url, headers, signal } as const;
      const received = await transport.open(spec);
      try {
        if (!anyContentType) checkContentType(spec, received.response);
        return readOpened(received, from !== undefined);
      } catch (error) {
        void received.body.cancel().catch(() => undefined);
        throw error;
      }
    },
    delay: (retry) => (retry > settings.retry.limit ? undefined : backoff(settings, retry)),
    pause: (delay, signal) => sleep(settings.clock, delay, signal),
  };
}

function checkContentType(spec: RequestSpec, response: Response): void {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (
    !/^(?:text\/html|(?:application|text)\/(?:.+\+)?(?:json|xml)|application\/xhtml\+xml)$/.test(
      type,
    )
  )
    return;
  throw new InvalidResponseError(
    `${describe(spec)}: the recording came as ${type}, which is not audio. ` +
      'To accept any content type, pass anyContentType: true',
  );
}

const contentRange = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/;

/**
 * Reads the headers of a download.
 *
 * @param asked whether only the rest was requested
 * @throws {InvalidResponseError} if a 206 response was not asked for, or does not say its range
 */
export function readOpened({ response, body }: OpenResponse, asked: boolean): OpenedRecording {
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  let start = 0;
  let total = expectedLength(response);
  if (response.status === 206) {
    const range = contentRange.exec(header('content-range') ?? '');
    if (range === null || !asked) {
      throw new InvalidResponseError(
        asked
          ? 'the service sent a part of the recording without a Content-Range header'
          : 'the service sent a part of the recording when the whole was requested',
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
