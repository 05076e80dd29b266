import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { wavPart, wavSize } from '../recordings/wav.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Simulation } from '../simulation.ts';

/**
 * `GET /v1/calls/{id}/recording`: a playable WAV file, with support for ranges.
 * @guess Format of recordings
 */
export function recordingRoutes(app: FastifyInstance, { calls }: Simulation): void {
  app.get<{ Params: { id: string } }>('/calls/:id/recording', (request, reply) => {
    const { _id, recording } = calls.get(request.params.id);
    if (!recording) throw new SimulatorError('not-found', 'The call has no recording yet.');
    const { durationSeconds } = recording;
    const size = wavSize(durationSeconds);
    const etag = `"${_id}-${String(durationSeconds)}"`;
    const { headers } = request;
    void reply
      .type('audio/wav')
      .headers({ 'accept-ranges': 'bytes', etag, 'cache-control': 'private, no-transform' });
    if (headers['if-none-match']?.split(/\s*,\s*/).includes(etag)) return reply.code(304).send();

    const ifRange = headers['if-range'];
    const whole = ifRange !== undefined && ifRange !== etag;
    const range = whole ? undefined : byteRange(headers.range, size);
    if (range === 'unsatisfiable')
      return reply
        .code(416)
        .header('content-range', `bytes */${String(size)}`)
        .send();
    const { start, end } = range ?? { start: 0, end: size - 1 };
    if (range)
      void reply
        .code(206)
        .header('content-range', `bytes ${String(start)}-${String(end)}/${String(size)}`);
    const tune = Number.parseInt(_id.slice(-4), 16);
    return reply
      .header('content-length', String(end + 1 - start))
      .send(Readable.from(wavPart(durationSeconds, tune, start, end)));
  });
}

/** A range of bytes, with both ends included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header with a single range. Any other header is ignored (RFC 9110).
 * @returns `undefined` for the whole file, `'unsatisfiable'` for status 416
 */
function byteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [first, last] = [match[1] ?? '', match[2] ?? ''];
  if (first === '') {
    const length = Number(last);
    return length === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start < size ? { start, end } : 'unsatisfiable';
}
