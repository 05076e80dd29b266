import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../src/errors/index.ts';
import { caught } from '../support/caught.ts';
import { testClient } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: string;

beforeEach(async () => {
  server = await startServer((_, response) => void response.end('sound'));
  folder = await mkdtemp(join(tmpdir(), 'recording-'));
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

test('its bytes are read once: by a stream, or by saveTo', async () => {
  const { calls } = testClient(server.origin);
  const read = await calls.recording('c');
  await new Response(read.body).text();
  expect(await caught(read.saveTo(join(folder, 'a')))).toBeInstanceOf(ConfigurationError);
  const saved = await calls.recording('c');
  await saved.saveTo(join(folder, 'b'));
  expect(await caught(saved.saveTo(join(folder, 'c')))).toBeInstanceOf(ConfigurationError);
  expect(await readdir(folder)).toEqual(['b']);
});

test('the signal of the request ends the body', async () => {
  const controller = new AbortController();
  const recording = await testClient(server.origin).calls.recording('c', {
    signal: controller.signal,
  });
  controller.abort(new Error('enough'));
  await expect(new Response(recording.body).text()).rejects.toThrow('enough');
});
