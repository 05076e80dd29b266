import { sleep } from '../clock.ts';
import { backoff } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import type { Settings } from '../settings.ts';
import { readOpened, type OpenedRecording } from './opened.ts';

/** A range that continues a download: from `start` on, if the recording is still the same. */
export interface ResumePoint {
  /** The first byte that is missing. */
  readonly start: number;
  /** An ETag or a date for `If-Range`; without one the sizes alone are compared. */
  readonly validator: string | undefined;
}

/** Where a recording's bytes come from, also a second time. */
export interface RecordingSource {
  /** Names the recording in a note beside an unfinished file. */
  readonly id: string;
  /** Requests the recording, or the rest of it. */
  open(signal: AbortSignal | undefined, from?: ResumePoint): Promise<OpenedRecording>;
  /** Whether and how long (ms) to wait before reconnection number `retry`; undefined: no more. */
  delay(retry: number): number | undefined;
  /** Waits, in ms. */
  pause(delay: number, signal: AbortSignal | undefined): Promise<void>;
}

/** The recording behind a URL of the configured origin. */
export function recordingSource(
  settings: Settings,
  transport: Transport,
  url: URL,
): RecordingSource {
  return {
    id: url.pathname,
    async open(signal, from) {
      // Compressed bytes could be neither counted nor resumed.
      const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
      if (from !== undefined) headers['range'] = `bytes=${from.start}-`;
      if (from?.validator !== undefined) headers['if-range'] = from.validator;
      const answer = await transport.open({ method: 'GET', url, headers, signal });
      return readOpened(answer, from !== undefined);
    },
    delay: (retry) => (retry > settings.retry.limit ? undefined : backoff(settings, retry)),
    pause: (delay, signal) => sleep(settings.clock, delay, signal),
  };
}
