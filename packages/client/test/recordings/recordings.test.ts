import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ConfigurationError, ForeignOriginError } from '../../src/errors/index.ts';
import { caught } from '../support/caught.ts';
import { testClient, TOKEN } from '../support/client.ts';
import { startServer, type TestServer } from '../support/server.ts';

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
    expect(error).toBeInstanceOf(ForeignOriginError);
  }
  const error = await caught(
    recordings.fromEvent({ callId: 'c', recordingUrl: '/v1/calls/c/recording' }),
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  expect([...home.requests, ...foreign.requests]).toEqual([]);
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
