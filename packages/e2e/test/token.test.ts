import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import {
  ConfigurationError,
  createClient,
  ForeignOriginError,
  RedirectError,
  UnconfirmedWriteError,
} from '@call-webhooks/client';
import { startProxy } from '../src/proxy.ts';
import { startRequestRecorder } from '../src/request-recorder.ts';
import { testResources } from '../src/test-resources.ts';

const open = testResources();
const thrown = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function setUp(location: (recorder: string) => string) {
  const simulator = await open.simulator();
  const recorder = open.add(await startRequestRecorder());
  const proxy = open.add(
    await startProxy(simulator.url, (_, response) =>
      response.writeHead(307, { location: location(recorder.origin) }).end(),
    ),
  );
  const { apiToken } = simulator;
  return {
    simulator,
    recorder,
    apiToken,
    client: createClient({ baseUrl: proxy.origin, apiToken }),
  };
}

test('follows a redirect to another origin without the token, but not for a write', async () => {
  const { client, recorder, apiToken } = await setUp((origin) => `${origin}/elsewhere`);
  await client.events.list();
  await client.calls.list();
  await (await client.calls.recording('c', { anyContentType: true })).body.cancel();
  expect(recorder.requests).toHaveLength(3);
  const write = await thrown(client.rules.addWebhook('r', { url: 'https://example.com/hook' }));
  expect(write).toBeInstanceOf(UnconfirmedWriteError);
  expect((write as UnconfirmedWriteError).cause).toBeInstanceOf(RedirectError);
  expect(recorder.requests).toHaveLength(3);
  expect(recorder.requests.join()).not.toContain(apiToken);
  expect(inspect(write, { depth: 9, showHidden: true })).not.toContain(apiToken);
});

test('does not follow a redirect whose URL contains the token', async () => {
  let token = '';
  const { client, recorder, apiToken } = await setUp((origin) => `${origin}/?token=${token}`);
  token = apiToken;
  expect(await thrown(client.events.list())).toBeInstanceOf(RedirectError);
  expect(recorder.requests).toEqual([]);
});

test('does not request a recordingUrl of another origin', async () => {
  const { simulator, recorder } = await setUp(() => '/');
  const { url: baseUrl, apiToken } = simulator;
  const { port } = recorder;
  const client = createClient({ baseUrl, apiToken });
  for (const recordingUrl of [
    `${recorder.origin}/v1/calls/c/recording`,
    `http://localhost:${String(port)}/v1/calls/c/recording`,
    `${baseUrl.replace('//', '//user:pass@')}/v1/calls/c/recording`,
    `${baseUrl.replace('127.0.0.1', '127.0.0.1.nip.example')}/v1/calls/c/recording`,
    `blob:${baseUrl}/v1/calls/c/recording`,
    `${baseUrl.replace('http', 'https')}/v1/calls/c/recording`,
  ]) {
    const error = await thrown(client.recordings.fromEvent({ callId: 'c', recordingUrl }));
    expect(error).toBeInstanceOf(ForeignOriginError);
  }
  expect(recorder.requests).toEqual([]);
});

test('sends the token over plain http only to loopback, or where that is allowed', async () => {
  const recorder = open.add(await startRequestRecorder());
  // Another name of this machine, which reaches the recorder but is not a loopback address.
  const baseUrl = `http://0.0.0.0:${String(recorder.port)}`;
  expect(() => createClient({ baseUrl, apiToken: 'tok-1' })).toThrow(ConfigurationError);
  expect(recorder.requests).toEqual([]);
  await createClient({ baseUrl, apiToken: 'tok-1', allowInsecure: true }).events.list();
  expect(recorder.requests.join()).toContain('tok-1');
});
