import { expect, test } from '@jest/globals';
import type { Simulator } from '@call-webhooks/simulator';
import {
  action,
  ADA,
  afterCall,
  CALL,
  CRM,
  END,
  FINISHED,
  IDS,
  NOW,
  RETRY,
  TAPE,
  TAPES,
  TEAM,
} from '../support/one-call.ts';
import { STARTED_AT as START, testResources } from '../support/test-resources.ts';

const open = testResources();

const SECRETS = {
  crm: 'whsec_IiWcVPD8b8BgWYmpStz3mHyX/pgPQgpF',
  gone: 'whsec_jpdPyl4Nk2V/vSa8JK/w/eI2oZ3EqL0H',
  tapes: 'whsec_D0Q1FzPBgY5oOe0UraJZuqcgPLf5vZyu',
} as const;
const ENDED = {
  ...{ ...CALL, state: 'ended', endedAt: END, loggedAt: END },
  recording: { startedAt: START, durationSeconds: 60, availableAt: TAPE },
};

const attempt = (number: number, at: number, path: string, status: number, more: object) => ({
  ...{ number, kind: 'scheduled', startedAt: at, endedAt: at, tookMs: 0, chaos: [] },
  ...{ response: { kind: 'status', status }, url: `RECEIVER/${path}`, dropped: false, ...more },
});
const paused = (reason: string) => ({ result: { next: 'paused', reason } });
const HANDLED = { result: { next: 'acknowledged' }, outcome: 'handled' };
const BUSY = [
  attempt(1, START, 'busy', 503, { result: { next: 'retry', reason: 'status' } }),
  attempt(2, RETRY, 'busy', 503, paused('last-attempt-failed')),
];
const OF_CALL = { callId: IDS.call, callName: 'Ida Holm' };
const EVENTS = [
  {
    ...{ _id: 'a8b661c8306c6afe1e633a8d', number: 1, ruleId: IDS.crm, actionId: IDS.crmAction },
    ...{ ...OF_CALL, eventName: 'call:started', createdAt: START, state: 'failed' },
    ...{ attempts: BUSY, url: 'RECEIVER/busy', ruleName: 'To the CRM' },
  },
  {
    ...{ _id: '393df8b3d26b1078bd2c6110', number: 2, ruleId: IDS.finished, actionId: IDS.gone },
    ...{ ...OF_CALL, eventName: 'call:completed', createdAt: END, state: 'failed' },
    attempts: [attempt(1, END, 'gone', 404, paused('responded-404'))],
    ...{ url: 'RECEIVER/gone', ruleName: FINISHED },
  },
  {
    ...{ _id: 'c1327e5bdc436e4ada61388d', number: 3, ruleId: IDS.finished, actionId: IDS.unsigned },
    ...{ ...OF_CALL, eventName: 'call:completed', createdAt: END, state: 'acknowledged' },
    attempts: [attempt(1, END, 'old', 200, HANDLED)],
    ...{ url: 'RECEIVER/old', ruleName: FINISHED },
  },
  {
    ...{ _id: '521e508f4acaf3f36a62158b', number: 4, ruleId: IDS.tapes, actionId: IDS.tapesAction },
    ...{ ...OF_CALL, eventName: 'call:recording-available', createdAt: TAPE },
    ...{ state: 'acknowledged', attempts: [attempt(1, TAPE, 'tapes', 200, HANDLED)] },
    ...{ url: 'RECEIVER/tapes', ruleName: 'Call recording webhook' },
  },
];

/** What each event sent: its body, and the headers of each attempt that are its own. */
const COMPLETED =
  `{"eventName":"call:completed","callId":"${IDS.call}","userId":"${ADA}","createdAt":1769860800000,` +
  '"toPhoneNumber":"+12025550101","recipientEmail":"dana@customer.example","recipientName":"Ida Holm",' +
  '"startedAt":"2026-01-31T12:00:00.000Z","endedAt":"2026-01-31T12:01:00.000Z",' +
  '"fromPhoneNumber":{"number":"+12025550199","label":"Main line"}}';
const RECORDING =
  `{"eventName":"call:recording-available","eventId":"${IDS.call}:recording-available",` +
  `"callId":"${IDS.call}","userId":"${ADA}","workspaceId":"5f0100000000000000000001",` +
  '"recordingStartedAt":"2026-01-31T12:00:00.000Z","recordingDurationSeconds":60,' +
  '"occurredAt":"2026-01-31T12:01:01.000Z",' +
  `"recordingUrl":"https://api.example/v1/calls/${IDS.call}/recording"}`;
const signed = (id: string, seconds: number, signature: string) => ({
  'X-Service-Webhook-Id': id,
  'X-Service-Timestamp': String(seconds),
  'X-Service-Signature': `v1,${signature}`,
});
const SENT: readonly (readonly [body: string, own: readonly object[], answer: string])[] = [
  [
    '{"who":"Ida Holm"}',
    [
      signed(
        '2f91a876-804e-4e69-b351-19a3d119640f',
        1769860800,
        'xwwkB+C13qtSqwfh6AgCT9a6YqxIJExYBWcmnQyoz6Q=',
      ),
      signed(
        'd88db434-a540-48de-8b38-29be20211020',
        1769861126,
        '53Zo52GAXFogih/Gz2gI1Fa1AN5MpjN3ReHOoSXmUWA=',
      ),
    ],
    'busy',
  ],
  [
    COMPLETED,
    [
      signed(
        '4eb96c6d-9aa5-43f4-8dac-cbb5e9818369',
        1769860860,
        'lItlPhlbWnYblKkathc8Ub9rGV9IRKzlhC+ueqvqi0g=',
      ),
    ],
    '',
  ],
  [COMPLETED, [{}], '{"outcome":"handled"}'],
  [
    RECORDING,
    [
      signed(
        'f72df700-a0f2-4cb3-94fe-26d30bc19cd3',
        1769860861,
        'gRC6PqiDYfvKKLCUdVVnDGzMG8+0pLl8tCtLfAVJRck=',
      ),
    ],
    '{"outcome":"handled"}',
  ],
];

const mail = (_id: string, at: number, to: readonly string[], name: string, why: string) => ({
  ...{ _id, sentAt: at, to, subject: `Your rule "${name}" is paused` },
  ...{ text: `The rule "${name}" ${why}`, ruleId: name === FINISHED ? IDS.finished : IDS.crm },
});
const OUTBOX = [
  mail(
    '447c6d3dbdd83d364cfa3637',
    END,
    ['ben@workspace.example', 'cleo@workspace.example'],
    FINISHED,
    '(call:completed) is paused: its URL returned 404 and is considered gone. The event will not be retried.',
  ),
  mail(
    'cf3dc0b56c35b8cf1a444c0b',
    RETRY,
    ['ada@workspace.example'],
    'To the CRM',
    '(call:started) is paused: the last attempt to deliver an event failed.',
  ),
];
const NO_CHAOS = {
  ...{ duplicate: 0, concurrentDuplicates: 0, reorder: 0, dropResponse: 0, slowBody: 0 },
  ...{ wrongSecret: 0, oldSecret: 0, clockSkew: 0, replay: 0, tamperedBody: 0 },
};

test('the answers of the control API, word for word, for one call that is placed', async () => {
  const { ask, rules, call, clocks } = await afterCall(open);
  expect(rules).toEqual([CRM, TEAM, TAPES]);
  expect(call).toEqual(CALL);
  const clock = { mode: 'manual', now: NOW, nextDueAt: null, inFlight: 0 };
  expect(clocks).toEqual([{ ...clock, now: START, nextDueAt: END }, clock]);
  const state = {
    ...{ seed: '1', url: 'SIMULATOR', clock, chaos: NO_CHAOS, calls: [ENDED], events: EVENTS },
    policy: { maxAttempts: 2, retryEvery: 300_000, acknowledgeWithin: 30_000, whilePaused: 'drop' },
    counts: { calls: 1, events: { acknowledged: 2, failed: 2 }, mails: 2, messages: 0 },
    matching: { acknowledged: 2, failed: 2 },
    rules: [
      { ...CRM, state: 'paused', pauseReason: 'last-attempt-failed', pausedAt: RETRY },
      { ...TEAM, state: 'paused', pauseReason: 'responded-404', pausedAt: END },
      TAPES,
    ],
    outbox: OUTBOX,
  };
  expect(await ask('GET /_sim/state')).toEqual(state);
  expect(await ask('GET /_sim/events')).toEqual(EVENTS);
  expect(await ask('GET /_sim/calls')).toEqual([ENDED]);
  expect(await ask('GET /_sim/outbox')).toEqual(OUTBOX);
  expect(await ask('GET /_sim/rules')).toEqual(state.rules);
  expect(await ask('GET /_sim/chaos')).toEqual(NO_CHAOS);
  expect(await ask('GET /_sim/secrets')).toEqual({
    [IDS.crmAction]: { current: SECRETS.crm, rotations: 0 },
    [IDS.gone]: { current: SECRETS.gone, rotations: 0 },
    [IDS.unsigned]: null,
    [IDS.tapesAction]: { current: SECRETS.tapes, rotations: 0 },
  });
  expect(await ask('GET /_sim/api-token')).toEqual({ apiToken: 'fc203802399369452151a270' });
});

test('an event as a whole, with all that was sent and all that came back', async () => {
  const { ask } = await afterCall(open);
  for (const [at, { _id, attempts, ...event }] of EVENTS.entries()) {
    const [body, own, answer] = SENT[at]!;
    expect(await ask(`GET /_sim/events/${_id}`)).toEqual({
      ...{ ...event, _id, body },
      attempts: attempts.map(({ response, url, ...rest }, number) => ({
        ...{ ...rest, url },
        request: {
          ...{ url, body },
          headers: {
            'User-Agent': 'call-webhooks-simulator',
            'Content-Type': 'application/json',
            'Content-Length': String(body.length),
            ...own[number],
          },
        },
        response: {
          ...{ ...response, body: answer, truncated: false },
          headers:
            response.status === 200
              ? { connection: 'close', 'content-length': '21' }
              : { connection: 'close', 'transfer-encoding': 'chunked' },
        },
      })),
    });
  }
});

test('an action that is added, changed and rotated, on both sides of the API', async () => {
  const { ask } = await afterCall(open);
  const added = await ask(`POST /_sim/rules/${IDS.crm}/actions`, { url: 'RECEIVER/b?c=%20d' });
  expect(added).toEqual({ ...action('', 'b?c=%20d'), _id: expect.any(String) });
  const changed = { url: 'RECEIVER/new', payload: [1] };
  const path = `/rules/${IDS.crm}/actions/${IDS.crmAction}`;
  const patched = action(IDS.crmAction, 'new', { payload: [1] });
  expect(await ask(`PATCH /_sim${path}`, changed)).toEqual(patched);
  const rotated = (await ask(`POST /_sim${path}/rotate`, {})) as { signingSecret: string };
  expect(rotated).toEqual({ signingSecret: expect.stringMatching(/^whsec_[\w+/]{32}$/) });
  const again = await ask(`PATCH /v1${path}`, { rotateSigningSecret: true });
  const current = expect.stringMatching(/^whsec_[\w+/]{32}$/) as unknown as string;
  expect(again).toEqual({ ...patched, signingSecret: current });
  expect((await ask('GET /_sim/secrets')) as object).toMatchObject({
    [IDS.crmAction]: {
      current: (again as typeof rotated).signingSecret,
      ...{ previous: rotated.signingSecret, rotations: 2 },
    },
  });
  expect(await ask(`POST /v1/rules/${IDS.crm}/actions`, { url: 'RECEIVER/c' })).toEqual({
    ...{ ...action('', 'c'), _id: expect.any(String), signingSecret: current },
  });
});

/** The data of the `changes` event that something causes. */
async function firstChange({ url }: Simulator, act: () => Promise<unknown>): Promise<unknown> {
  const reader = (await fetch(`${url}/_sim/stream`)).body!.getReader();
  const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
  expect(await read()).toBe('retry: 1000\n\n');
  await act();
  const told = await read();
  await reader.cancel();
  const data = /^event: changes\ndata: (.*)\n\n$/s.exec(told)?.[1];
  return JSON.parse(data ?? 'null');
}

test('the changes that a listener gets, word for word', async () => {
  const { simulator, ask } = await afterCall(open);
  const changes = await firstChange(simulator, () =>
    ask(`POST /_sim/rules/${IDS.tapes}/pause`, {}),
  );
  const url = simulator.rules.get(IDS.tapes).actions[0]!.url;
  expect(changes).toEqual({
    ...{ resync: false, events: [] },
    rules: [
      {
        ...{ ...TAPES, actions: [{ ...TAPES.actions[0], url }] },
        ...{ state: 'paused', pauseReason: 'by-hand', pausedAt: NOW },
      },
    ],
  });
  const reset = await firstChange(simulator, () => ask('POST /_sim/reset', {}));
  expect(reset).toEqual({ resync: true, rules: [], events: [] });
});
