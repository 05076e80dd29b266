import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../src/errors.ts';
import { caught } from './support/caught.ts';
import { testClient, TOKEN } from './support/client.ts';
import { startServer, type TestServer } from './support/server.ts';

describe('recordings', () => {
  let home: TestServer;
  let foreign: TestServer;

  beforeEach(async () => {
    home = await startServer((_, response) => void response.end('sound'));
    foreign = await startServer((_, response) => void response.end('noise'));
  });
  afterEach(async () => {
    await home.close();
    await foreign.close();
  });

  test('uses a recordingUrl below the base URL, and the callId where there is none', async () => {
    const { recordings } = testClient(`${home.origin}/base`);
    const recordingUrl = `${home.origin}/base/v1/calls/c/recording`;
    const recording = await recordings.fromEvent({ callId: 'c', recordingUrl });
    await expect(new Response(recording.body).text()).resolves.toBe('sound');
    await (await recordings.fromEvent({ callId: 'c' })).body.cancel();
    expect(home.requests.map(({ url }) => url)).toEqual([
      '/base/v1/calls/c/recording',
      '/base/v1/calls/c/recording',
    ]);
  });

  test('requests nothing elsewhere', async () => {
    const { recordings } = testClient(`${home.origin}/base`);
    const { port } = home;
    for (const recordingUrl of [
      `${foreign.origin}/base/v1/calls/c/recording`,
      `http://localhost:${port}/base/v1/calls/c/recording`,
      `https://127.0.0.1:${port}/base/v1/calls/c/recording`,
      `http://user:pass@127.0.0.1:${port}/base/v1/calls/c/recording`,
      `${home.origin}/base/../v1/calls/c/recording`,
      `${home.origin}/basement/v1/calls/c/recording`,
    ]) {
      const error = await caught(recordings.fromEvent({ callId: 'c', recordingUrl }));
      expect(error).toMatchObject({ code: 'foreign-origin' });
    }
    const error = await caught(
      recordings.fromEvent({ callId: 'c', recordingUrl: '/v1/calls/c/recording' }),
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect([...home.requests, ...foreign.requests]).toEqual([]);
  });

  test('says what an event misses', async () => {
    const { recordings } = testClient(home.origin);
    for (const event of [{}, { callId: null, recordingUrl: null }, { callId: '' }]) {
      const error = await caught(recordings.fromEvent(event));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toContain('neither a recordingUrl nor a callId');
    }
    expect(home.requests).toEqual([]);
    await (await recordings.fromEvent({ callId: 'c', recordingUrl: null })).body.cancel();
    const recordingUrl = `${home.origin}/v1/calls/c/recording`;
    await (await recordings.fromEvent({ recordingUrl })).body.cancel();
    expect(home.requests).toHaveLength(2);
  });

  test('a recording that is redirected to another origin comes without the token', async () => {
    const moved = await startServer(
      (_, response) =>
        void response.writeHead(302, { location: `${foreign.origin}/signed?key=1` }).end(),
    );
    const recording = await testClient(moved.origin).calls.recording('c');
    await expect(new Response(recording.body).text()).resolves.toBe('noise');
    expect(moved.requests[0]?.headers['x-api-token']).toBe(TOKEN);
    expect(JSON.stringify(foreign.requests)).not.toContain(TOKEN);
    await moved.close();
  });
});

describe('recording', () => {
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

  test.each([
    'application/json',
    'application/problem+json; charset=utf-8',
    'Text/HTML; charset=utf-8',
    'application/xhtml+xml',
    'text/xml',
  ])('%s is not saved as audio, unless it is allowed', async (type) => {
    const typed = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': type }).end('{"error":"expired"}');
    });
    const { calls, recordings } = testClient(typed.origin);
    for (const opened of [calls.recording('c'), recordings.fromEvent({ callId: 'c' })]) {
      const error = await caught(opened);
      expect(error).toMatchObject({ code: 'invalid-response' });
      expect(error.message).toContain('anyContentType: true');
      expect(error.message).not.toContain('expired');
    }
    const allowed = await calls.recording('c', { anyContentType: true });
    await allowed.saveTo(join(folder, 'a'));
    expect(await readdir(folder)).toEqual(['a']);
    await typed.close();
  });

  test.each(['audio/mpeg', 'application/octet-stream', 'video/mp4', 'binary/json-audio'])(
    '%s is a recording',
    async (type) => {
      const typed = await startServer((_, response) => {
        response.writeHead(200, { 'content-type': type }).end('sound');
      });
      const recording = await testClient(typed.origin).calls.recording('c');
      await expect(new Response(recording.body).text()).resolves.toBe('sound');
      await typed.close();
    },
  );

  test('the signal of the request ends the body', async () => {
    const controller = new AbortController();
    const recording = await testClient(server.origin).calls.recording('c', {
      signal: controller.signal,
    });
    controller.abort(new Error('enough'));
    await expect(new Response(recording.body).text()).rejects.toThrow('enough');
  });
});

test.each([
  ['a part that was not asked for: it could be taken for the whole', 'bytes 4-8/9'],
  ['a part that does not say which', 'items 0-1/2'],
])('%s is refused', async (_, range) => {
  const server = await startServer((_request, response) => {
    response.writeHead(206, { 'content-range': range }).end('sound');
  });
  const error = await caught(testClient(server.origin).calls.recording('c'));
  expect(error).toMatchObject({ code: 'invalid-response', status: 206 });
  await server.close();
});

test('the length of a compressed recording is not known', async () => {
  const server = await startServer((_, response) => {
    const bytes = gzipSync('sound');
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bytes.length });
    response.end(bytes);
  });
  const recording = await testClient(server.origin).calls.recording('c');
  expect(recording.contentLength).toBeUndefined();
  await expect(new Response(recording.body).text()).resolves.toBe('sound');
  await server.close();
});
