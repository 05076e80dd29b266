import { expect, test } from '@jest/globals';
import { NetworkError } from '../../../src/errors/index.ts';
import { copy } from '../../../src/recordings/save/copy.ts';
import type { PartFile } from '../../../src/recordings/save/part-file.ts';

function opened(total: number | undefined, start: number, ...pieces: string[]) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const unknown = { contentType: undefined, etag: undefined, lastModified: undefined };
  return { ...unknown, body, start, total, resumable: true };
}

function part() {
  const writes: [string, number][] = [];
  const write = async (bytes: Uint8Array, position: number): Promise<void> =>
    void writes.push([new TextDecoder().decode(bytes), position]);
  return { writes, file: { write } as PartFile };
}

test('writes each piece at its place, from the start of the part on', async () => {
  const { writes, file } = part();
  const advanced: number[] = [];
  const bytes = await copy(opened(9, 4, 'abc', 'de'), file, {}, (now) => advanced.push(now));
  expect(bytes).toBe(9);
  expect(writes).toEqual([
    ['abc', 4],
    ['de', 7],
  ]);
  expect(advanced).toEqual([4, 7, 9]);
});

test.each([
  ['shorter', 10],
  ['longer', 8],
])('a recording that is %s than announced is an error', async (_, total) => {
  const copying = copy(opened(total, 4, 'abcde'), part().file, {}, () => undefined);
  await expect(copying).rejects.toBeInstanceOf(NetworkError);
});
