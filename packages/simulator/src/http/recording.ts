import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { SimulatorError } from '../errors.ts';
import type { Simulation } from '../simulation.ts';

const RATE = 8_000;
const BYTES_PER_SECOND = RATE * 2;
const HEADER_BYTES = 44;
/** Hertz. Whole numbers, so that the seconds join without a click. */
const HIGH_TONES = [523, 587, 659, 698, 784] as const;

/** The size of a recording; bytes. */
const wavSize = (seconds: number) => HEADER_BYTES + seconds * BYTES_PER_SECOND;

/**
 * Generates part of a recording: a WAV file (8 kHz, 16 bits, mono) with two tones per second. It is
 * generated as it is read, so long recordings need no memory.
 * @param tune selects the tones
 * @param from the first byte
 */
function* wavPart(seconds: number, tune: number, from: number): Generator<Buffer, void> {
  if (from < HEADER_BYTES) yield wavHeader(seconds).subarray(from);
  const second = oneSecond(tune);
  const size = wavSize(seconds);
  for (let at = Math.max(from, HEADER_BYTES); at < size;) {
    const rest = second.subarray((at - HEADER_BYTES) % BYTES_PER_SECOND);
    yield rest;
    at += rest.length;
  }
}

function wavHeader(seconds: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const size = seconds * BYTES_PER_SECOND;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + size, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16); // bytes of the format
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(BYTES_PER_SECOND, 28);
  header.writeUInt16LE(2, 32); // bytes of a frame
  header.writeUInt16LE(16, 34); // bits of a sample
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(size, 40);
  return header;
}

function oneSecond(tune: number): Buffer {
  const samples = Buffer.alloc(BYTES_PER_SECOND);
  const high = HIGH_TONES[tune % HIGH_TONES.length] ?? HIGH_TONES[0];
  for (let index = 0; index < RATE; index++) {
    const half = RATE / 2;
    const position = (index % half) / half;
    // Each tone swells and fades within the first 80 % of its half second.
    const loudness = position < 0.8 ? Math.sin((position / 0.8) * Math.PI) : 0;
    const tone = Math.sin((2 * Math.PI * (index < half ? high : 440) * index) / RATE);
    samples.writeInt16LE(Math.round(tone * loudness * 9_000), index * 2);
  }
  return samples;
}

/**
 * `GET /v1/calls/{id}/recording`: a playable WAV file. It can be continued from any byte on with
 * `Range: bytes=<from>-`; other ranges are ignored, and the whole file is sent (RFC 9110).
 * @guess Format of recordings
 */
export function recordingRoute(app: FastifyInstance, { calls }: Simulation): void {
  app.get<{ Params: { id: string } }>('/calls/:id/recording', ({ params, headers }, reply) => {
    const { _id, recording } = calls.get(params.id);
    if (!recording) throw new SimulatorError('not-found', 'The call has no recording yet.');
    const { durationSeconds } = recording;
    const size = wavSize(durationSeconds);
    const etag = `"${_id}-${String(durationSeconds)}"`;
    const sameFile = [undefined, etag].includes(headers['if-range'] as string | undefined);
    const range = sameFile ? /^bytes=(\d+)-$/.exec(headers.range ?? '') : null;
    const from = Number(range?.[1] ?? 0);
    void reply
      .type('audio/wav')
      .headers({ 'accept-ranges': 'bytes', etag, 'cache-control': 'private, no-transform' });
    if (from >= size)
      return reply
        .code(416)
        .header('content-range', `bytes */${String(size)}`)
        .send();
    if (range)
      void reply
        .code(206)
        .header('content-range', `bytes ${String(from)}-${String(size - 1)}/${String(size)}`);
    const tune = Number.parseInt(_id.slice(-4), 16);
    return reply
      .header('content-length', String(size - from))
      .send(Readable.from(wavPart(durationSeconds, tune, from)));
  });
}
