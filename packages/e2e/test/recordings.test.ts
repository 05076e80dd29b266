import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { createClient, NetworkError, type ClientOptions } from '@call-webhooks/client';
import type { Simulator } from '@call-webhooks/simulator';
import { sendForwarded, startProxy, type ProxyHandler } from '../src/proxy.ts';
import { instantClock } from '../src/instant-clock.ts';
import { testResources } from '../src/test-resources.ts';

const open = testResources();
let simulator: Simulator;
let folder: string;
let path: string;

beforeEach(async () => {
  simulator = await open.simulator();
  folder = await open.folder();
  path = join(folder, 'call.wav');
});

/** A call of ten minutes: 9.6 MB, more than all buffers in between. */
async function recorded(durationSeconds = 600): Promise<{ callId: string; bytes: Buffer }> {
  const { _id } = simulator.calls.place({ durationSeconds });
  await simulator.clock.runUntilIdle();
  const answer = await fetch(`${simulator.url}/v1/calls/${_id}/recording`, {
    headers: { 'X-API-Token': simulator.apiToken },
  });
  return { callId: _id, bytes: Buffer.from(await answer.arrayBuffer()) };
}

const clientOf = (baseUrl: string, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl, apiToken: simulator.apiToken, retries: 0, ...options });

test('an aborted download is resumed to the same bytes', async () => {
  const { callId, bytes } = await recorded();
  const ranges: (string | undefined)[] = [];
  const { calls } = clientOf(simulator.url, {
    fetch: (url, init) => {
      ranges.push(init.headers['range']);
      return fetch(url, init);
    },
  });
  const controller = new AbortController();
  const first = await calls.recording(callId, { signal: controller.signal });
  const saving = first.saveTo(path, {
    resume: true,
    onProgress: ({ received }) => {
      if (received > 2_000_000) controller.abort(new Error('enough'));
    },
  });
  await expect(saving).rejects.toThrow('enough');
  expect((await readdir(folder)).sort()).toEqual(['call.wav.part', 'call.wav.part.json']);

  const { resumedFrom } = await (await calls.recording(callId)).saveTo(path, { resume: true });
  expect(resumedFrom).toBeGreaterThan(2_000_000);
  expect(resumedFrom).toBeLessThan(bytes.length);
  expect(ranges).toEqual([undefined, undefined, `bytes=${String(resumedFrom)}-`]);
  expect((await readFile(path)).equals(bytes)).toBe(true);
  expect(await readdir(folder)).toEqual(['call.wav']);
});

/** Cuts off the first `times` responses after 100,000 bytes, whatever their Content-Length. */
function cutting(times: number): ProxyHandler {
  return async (_, response, forward) => {
    const answer = await forward();
    if (times-- <= 0) {
      sendForwarded(response, answer);
      return;
    }
    response.writeHead(answer.status, answer.headers);
    response.write(answer.body.subarray(0, 100_000), () => response.destroy());
  };
}

test('a truncated download fails and leaves no file under the final name', async () => {
  const { callId } = await recorded(60);
  const proxy = open.add(await startProxy(simulator.url, cutting(1)));
  const recording = await clientOf(proxy.origin).calls.recording(callId);
  await expect(recording.saveTo(path)).rejects.toBeInstanceOf(NetworkError);
  expect(await readdir(folder)).toEqual([]);
});

test('a download resumes after three broken connections within one call', async () => {
  const { callId, bytes } = await recorded(60);
  const proxy = open.add(await startProxy(simulator.url, cutting(3)));
  const clock = instantClock();
  const client = clientOf(proxy.origin, { retries: 3, clock, random: () => 0 });
  await (await client.calls.recording(callId)).saveTo(path, { resume: true });
  expect((await readFile(path)).equals(bytes)).toBe(true);
  expect(clock.pauses).toEqual([250, 500, 1000]);
});

test('a partial download is not continued with the bytes of another call', async () => {
  const one = await recorded(60);
  const other = await recorded(60);
  expect(one.bytes.length).toBe(other.bytes.length);
  const proxy = open.add(await startProxy(simulator.url, cutting(1)));
  const cut = await clientOf(proxy.origin).calls.recording(one.callId);
  await expect(cut.saveTo(path, { resume: true })).rejects.toBeInstanceOf(NetworkError);
  const whole = await clientOf(simulator.url).calls.recording(other.callId);
  expect(await whole.saveTo(path, { resume: true })).toMatchObject({ resumedFrom: 0 });
  expect((await readFile(path)).equals(other.bytes)).toBe(true);
});
