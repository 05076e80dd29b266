import { request } from 'node:http';
import { expect, test } from '@jest/globals';
import type { Simulator } from '@call-webhooks/simulator';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

/** The status and the body of a response to a request that `fetch` would not make. */
const raw = (url: string, method: string, headers: Record<string, string>, body = '') =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve([response.statusCode, JSON.parse(text) as unknown]));
    })
      .on('error', reject)
      .end(body);
  });
const HOST = 'The Host header must name loopback: localhost, 127.0.0.1 or [::1].';
const ORIGIN = 'Pages of other origins have no access.';
const JSON_ONLY = 'Send content-type: application/json.';
const TOKEN = 'Send the API token in X-API-Token.';

test.each<[string, Record<string, string>, number, code: string, message: string]>([
  ['GET /', { host: 'evil.example' }, 403, 'forbidden-host', HOST],
  ['GET /_sim/state', { host: 'localhost.evil.example' }, 403, 'forbidden-host', HOST],
  ['GET /_sim/state', { origin: 'http://evil.example' }, 403, 'forbidden-origin', ORIGIN],
  ['GET /_sim/state', { 'sec-fetch-site': 'cross-site' }, 403, 'forbidden-origin', ORIGIN],
  ['GET /_sim/state', { 'sec-fetch-site': 'same-site' }, 403, 'forbidden-origin', ORIGIN],
  ['POST /_sim/reset', {}, 415, 'unsupported-media-type', JSON_ONLY],
  ['PATCH /_sim/chaos', { 'content-type': 'text/plain' }, 415, 'unsupported-media-type', JSON_ONLY],
  [
    ...(['POST /_sim/reset', { 'content-type': 'application/jsonx' }] as const),
    ...([415, 'unsupported-media-type', JSON_ONLY] as const),
  ],
  ['GET /v1/events', {}, 401, 'unauthorized', TOKEN],
  [
    'GET /v1/nothing',
    { 'x-api-token': 'mine' },
    404,
    'not-found',
    'No route matches this request.',
  ],
  ['GET /_inspector/x.js', {}, 404, 'not-found', 'The inspector has no such file.'],
])('%s with %j is refused in these words', async (line, headers, status, code, message) => {
  const { url } = await open.simulator({ apiToken: 'mine' });
  const [method, path] = line.split(' ') as [string, string];
  expect(await raw(`${url}${path}`, method, headers)).toEqual([
    ...[status, { error: { code, message } }],
  ]);
});

test('too many requests are refused in these words', async () => {
  const rateLimit = { requests: 1, every: '1s' };
  const { url } = await open.simulator({ apiToken: 'mine', rateLimit, wallClock: () => 0 });
  const ask = () => raw(`${url}/v1/calls`, 'GET', { 'x-api-token': 'mine' });
  await ask();
  const error = { code: 'rate-limited', message: 'Too many requests.' };
  expect(await ask()).toEqual([429, { error }]);
});

const HERE = 'http://127.0.0.1:9/';
const recordings = ({ rules }: Simulator) => rules.setRecordingWebhook({ url: HERE });
const message = ({ messages }: Simulator) => messages.send({ subject: 'Hi', to: 'a@x.example' });

test.each<[code: string, message: string, act: (simulator: Simulator) => unknown]>([
  [
    ...(['not-found', 'The workspace has no user with this id.'] as const),
    ({ calls }) => calls.start({ placedBy: 'nobody' }),
  ],
  [
    ...(['not-found', 'The rule has no action with this id.'] as const),
    (simulator) => simulator.rules.action(recordings(simulator)._id, 'none'),
  ],
  [
    ...(['conflict', 'The recording webhook has one URL. Change it instead.'] as const),
    (simulator) => simulator.rules.addAction(recordings(simulator)._id, { url: HERE }),
  ],
  [
    ...(['conflict', 'The recording webhook has no custom payload.'] as const),
    (simulator) => {
      const { _id, actions } = recordings(simulator);
      simulator.rules.updateAction(_id, actions[0]!._id, { payload: {} });
    },
  ],
  [
    ...(['conflict', 'Remove the recording webhook instead of its action.'] as const),
    (simulator) => {
      const { _id, actions } = recordings(simulator);
      simulator.rules.removeAction(_id, actions[0]!._id);
    },
  ],
  [
    ...(['not-found', 'No signed action has this id.'] as const),
    ({ secrets }) => secrets.rotate('none'),
  ],
  [
    ...(['invalid-input', 'A message needs a recipient.'] as const),
    ({ messages }) => messages.send({ subject: 'Hi', to: [] }),
  ],
  [
    ...(['not-found', 'The workspace has no template with this id.'] as const),
    ({ messages }) => messages.send({ subject: 'Hi', to: 'a', templateId: 'none' }),
  ],
  [
    ...(['not-found', 'The workspace has no sequence with this id.'] as const),
    ({ messages }) => messages.send({ subject: 'Hi', to: 'a', sequenceId: 'none' }),
  ],
  [
    ...(['not-found', 'The message has no recipient with this address.'] as const),
    (simulator) =>
      simulator.messages.record(message(simulator)._id, { action: 'opened', recipientEmail: 'b' }),
  ],
  [
    'invalid-input',
    'action must be one of opened, clicked, downloaded, replied, meetinginvites:confirmed, poll:voted.',
    (simulator) =>
      simulator.messages.record(message(simulator)._id, { action: 'unopened' as never }),
  ],
  [
    'invalid-input',
    'to must be an email address, { email, name }, or a list of them.',
    ({ messages }) => messages.send({ subject: 'Hi', to: 5 as never }),
  ],
  [
    'invalid-input',
    'trigger must be "call:started" or "call:completed"; for recordings, set the recording webhook.',
    ({ rules }) => rules.create({ trigger: 'call:recording-available' as never }),
  ],
  [
    'invalid-input',
    'secret must be a signing secret: "whsec_" followed by the base64 of at least 16 bytes.',
    ({ rules }) => rules.forwardTo(HERE, { secret: 'mine' }),
  ],
  [
    'invalid-input',
    'Expected a duration: milliseconds, or a string such as "30s", "5m" or "1h".',
    ({ clock }) => clock.advance('soon'),
  ],
])('%s: "%s"', async (code, text, act) => {
  const simulator = await open.simulator();
  expect(() => act(simulator)).toThrow(expect.objectContaining({ code, message: text }));
});

test('a recording that is not there yet, and a body that is not JSON, are refused in these words', async () => {
  const { url, apiToken, rules, calls, events } = await open.simulator();
  rules.create({ trigger: 'call:started', actions: [{ url: HERE }] });
  const { _id } = calls.start();
  const headers = { 'x-api-token': apiToken, 'content-type': 'application/json' };
  expect(await raw(`${url}/v1/calls/${_id}/recording`, 'GET', headers)).toEqual([
    ...[404, { error: { code: 'not-found', message: 'The call has no recording yet.' } }],
  ]);
  const resend = `${url}/_sim/events/${events.list()[0]!._id}/resend`;
  expect(await raw(resend, 'POST', headers, '{"body":"{"}')).toEqual([
    ...[400, { error: { code: 'invalid-input', message: 'The body is not valid JSON.' } }],
  ]);
});
