const RATE = 8_000;
const BYTES_PER_SECOND = RATE * 2;
const HEADER_BYTES = 44;
const CHUNK_BYTES = 65_536;
/** Hertz. Whole numbers, so that the seconds join without a click. */
const HIGH_TONES = [523, 587, 659, 698, 784] as const;

/** The size of a recording; bytes. */
export const wavSize = (seconds: number) => HEADER_BYTES + seconds * BYTES_PER_SECOND;

/**
 * Generates part of a recording: a WAV file (8 kHz, 16 bits, mono) with two tones per second. It is
 * generated as it is read, so long recordings need no memory.
 * @param tune selects the tones
 * @param from the first byte
 * @param to the last byte, included
 */
export function* wavPart(
  seconds: number,
  tune: number,
  from: number,
  to: number,
): Generator<Buffer, void> {
  const header = wavHeader(seconds);
  if (from < HEADER_BYTES) yield header.subarray(from, to + 1);
  const second = oneSecond(tune);
  let at = Math.max(from, HEADER_BYTES);
  while (at <= to) {
    const start = (at - HEADER_BYTES) % BYTES_PER_SECOND;
    const chunk = second.subarray(start, start + Math.min(CHUNK_BYTES, to + 1 - at));
    yield chunk;
    at += chunk.length;
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
