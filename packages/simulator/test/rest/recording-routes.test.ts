import { describe, expect, test } from '@jest/globals';
import { restOf } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

async function recorded(durationSeconds = 3) {
  const simulator = await open.simulator();
  const call = simulator.calls.place({ durationSeconds });
  await simulator.clock.runUntilIdle();
  const rest = restOf(simulator);
  const download = (headers: Record<string, string> = {}, method = 'GET') =>
    rest(`/calls/${call._id}/recording`, { headers, method });
  const whole = async () => Buffer.from(await (await download()).arrayBuffer());
  return { simulator, call, rest, download, whole };
}

describe('a recording', () => {
  test('is a WAV file of the right length, with something to hear', async () => {
    const { download } = await recorded(3);
    const answer = await download();
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    const wav = Buffer.from(await answer.arrayBuffer());
    expect(Number(answer.headers.get('content-length'))).toBe(wav.length);
    const text = (at: number) => wav.toString('latin1', at, at + 4);
    expect([text(0), text(8), text(12), text(36)]).toEqual(['RIFF', 'WAVE', 'fmt ', 'data']);
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
    const [format, channels] = [wav.readUInt16LE(20), wav.readUInt16LE(22)];
    const [rate, bytesPerSecond] = [wav.readUInt32LE(24), wav.readUInt32LE(28)];
    const [frame, bits] = [wav.readUInt16LE(32), wav.readUInt16LE(34)];
    expect({ format, channels, rate, bits }).toEqual({
      format: 1,
      channels: 1,
      rate: 8_000,
      bits: 16,
    });
    expect([bytesPerSecond, frame]).toEqual([rate * frame, (channels * bits) / 8]);
    expect(wav.readUInt32LE(40)).toBe(3 * bytesPerSecond);
    expect(wav.length).toBe(44 + 3 * bytesPerSecond);
    const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, 3 * rate);
    const loudest = Math.max(...samples.map(Math.abs));
    expect(loudest).toBeGreaterThan(5_000);
    expect(loudest).toBeLessThan(32_767);
  });

  test('is the same every time, and another for another call', async () => {
    const { simulator, whole } = await recorded();
    const first = await whole();
    expect(first.equals(await whole())).toBe(true);
    const others = Array.from({ length: 6 }, () => simulator.calls.place({ durationSeconds: 3 }));
    await simulator.clock.runUntilIdle();
    const rest = restOf(simulator);
    const bodies = await Promise.all(
      others.map(async ({ _id }) =>
        Buffer.from(await (await rest(`/calls/${_id}/recording`)).arrayBuffer()),
      ),
    );
    expect(bodies.some((body) => !body.equals(first))).toBe(true);
  });

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-99', 10, 100],
    ['bytes=40-70000', 40, undefined],
    ['bytes=44-', 44, undefined],
    ['bytes=16043-16045', 16_043, 16_046],
    ['bytes=-100', -100, undefined],
    ['bytes=-999999', 0, undefined],
  ])('%s gives that part', async (range, start, end) => {
    const { download, whole } = await recorded();
    const all = await whole();
    const answer = await download({ range });
    const part = Buffer.from(await answer.arrayBuffer());
    expect(answer.status).toBe(206);
    expect(part.equals(all.subarray(start, end))).toBe(true);
    const from = start < 0 ? all.length + start : start;
    expect(answer.headers.get('content-range')).toBe(
      `bytes ${String(from)}-${String(from + part.length - 1)}/${String(all.length)}`,
    );
  });

  test.each(['bytes=999999-', 'bytes=-0'])('%s: 416', async (range) => {
    const answer = await (await recorded()).download({ range });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */48044');
  });

  test.each(['bytes=5-1', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-'])(
    '%s is no range: the whole comes',
    async (range) => {
      expect((await (await recorded()).download({ range })).status).toBe(200);
    },
  );

  test('has an ETag: for If-Range, and If-None-Match', async () => {
    const { download } = await recorded();
    const etag = (await download()).headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await download({ range: 'bytes=5-9', 'if-range': etag })).status).toBe(206);
    expect((await download({ range: 'bytes=5-9', 'if-range': '"old"' })).status).toBe(200);
    expect((await download({ 'if-none-match': `"old", ${etag}` })).status).toBe(304);
  });

  test('is there only when it was announced', async () => {
    const { simulator, rest, download } = await recorded();
    const { _id } = simulator.calls.start();
    expect((await rest(`/calls/${_id}/recording`)).status).toBe(404);
    const head = await download({}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe('48044');
  });
});

test('GET /v1/calls gives the records, the newest first, in pages', async () => {
  const { simulator, call, rest } = await recorded();
  await simulator.clock.advance('1m');
  const newer = simulator.calls.start();
  interface CallsPage {
    results: Record<string, unknown>[];
    next: string | null;
    hasNext: boolean;
  }
  const page = async (path: string) => (await (await rest(path)).json()) as CallsPage;
  const first = await page('/calls?limit=1');
  expect(first).toMatchObject({ results: [{ _id: newer._id, recording: null }], hasNext: true });
  const second = await page(`/calls?limit=1&next=${String(first.next)}`);
  expect(second).toMatchObject({ hasNext: false, next: null });
  expect(second.results[0]).toMatchObject({
    _id: call._id,
    toPhoneNumber: call.calledNumber,
    endedAt: '2026-01-31T12:00:03.000Z',
    recording: { durationSeconds: 3 },
  });
  expect(second.results[0]).not.toHaveProperty('eventName');
});
