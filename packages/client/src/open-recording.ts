import { invalidResponse } from './http/exchange.ts';
import type { Transport } from './http/transport.ts';

/** The options of a download. */
export interface RecordingOptions {
  /** Aborts the request and the body. Both fail with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether JSON, HTML and XML are accepted as well, which are usually error pages rather than audio;
   * `false` by default.
   */
  readonly anyContentType?: boolean | undefined;
}

/** A recording, or the rest of one, whose headers have arrived. */
export interface OpenedPart {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Headers;
  /** The index of the body's first byte in the whole recording. */
  readonly start: number;
  /** The size of the whole recording in bytes, if it is known. */
  readonly total: number | undefined;
}

/** Requests a recording: the bytes from `start` on if it still has this validator, or all of them. */
export type OpenPart = (
  signal: AbortSignal | undefined,
  start?: number,
  validator?: string,
) => Promise<OpenedPart>;

const notAudio =
  /^(?:text\/html|(?:application|text)\/(?:.+\+)?(?:json|xml)|application\/xhtml\+xml)$/;

const contentRange = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/;

export async function openPart(
  transport: Transport,
  url: URL,
  options: RecordingOptions & { start: number | undefined; validator: string | undefined },
): Promise<OpenedPart> {
  const { start, validator, signal } = options;
  // Compressed bytes can be neither counted nor resumed.
  const asked: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
  if (start !== undefined) asked['range'] = `bytes=${start}-`;
  if (validator !== undefined) asked['if-range'] = validator;
  const spec = { method: 'GET', url, headers: asked, signal } as const;
  const { response, body } = await transport.open(spec);
  const { headers, status } = response;
  const refuse = (problem: string): Error => {
    void body.cancel().catch(() => undefined);
    return invalidResponse(spec, problem, status);
  };
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (notAudio.test(type) && !options.anyContentType)
    throw refuse(
      `the recording has the content type ${type}, which is not audio. To accept any content type, pass anyContentType: true`,
    );
  if (status !== 206) return { body, headers, start: 0, total: lengthOf(headers) };
  const range = contentRange.exec(headers.get('content-range') ?? '');
  if (range === null || start === undefined)
    throw refuse('the service sent a part of the recording that was not requested');
  const total = range[2] === '*' ? undefined : Number(range[2]);
  return { body, headers, start: Number(range[1]), total };
}

/** The length of a body in bytes. Undefined if it is unknown or compressed. */
function lengthOf(headers: Headers): number | undefined {
  const length = headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(length) && !isCompressed(headers) ? Number(length) : undefined;
}

/** Whether the bytes that `fetch` returns differ from those that were sent. */
export function isCompressed(headers: Headers): boolean {
  return (headers.get('content-encoding') ?? 'identity') !== 'identity';
}
