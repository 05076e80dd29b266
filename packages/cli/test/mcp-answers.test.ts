import { describe, expect, test } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { redactId } from '@call-webhooks/core/internal';
import { counterName, deadLetterId } from '@call-webhooks/core/stores';
import { startSimulator } from '@call-webhooks/simulator';
import { assistant } from './support/assistant.ts';
import { closing, setup } from './support/dead-letters.ts';
import { receiver } from './support/receiver.ts';

// An assistant sees these answers alone: each has all of its fields, and no others.

const MINUTE = 60_000;
const COMPLETED = 'call:completed';
const second = (at: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, at));
const CRM = 'Error: the CRM is down';
const LETTERS = [
  deadLetter({
    ...{ webhookId: 'w1', callId: 'c1', key: `c1:${COMPLETED}`, attempt: 2, failedAt: second(1) },
    rawBody: Buffer.from(`{"eventName":"${COMPLETED}","callId":"c1","name":"Ada"}`),
  }),
  deadLetter({
    ...{ webhookId: 'w2', callId: 'c2', key: `c2:${COMPLETED}`, attempt: 1, failedAt: second(2) },
    ...{ reason: 'invalid-payload', rawBody: Buffer.from('no json'), errorText: 'Error: no id' },
  }),
  deadLetter({
    ...{ webhookId: 'w3', callId: 'c3', key: `c3:${COMPLETED}`, attempt: 1, failedAt: second(3) },
  }),
];

/** Three dead letters, of two causes, and two deliveries of the first call. */
async function stored() {
  const made = await setup();
  const { store, deadLetters } = made;
  const now = Date.now();
  const ids = await Promise.all(LETTERS.map((letter) => deadLetterId(letter)));
  for (const letter of LETTERS) await deadLetters.put(letter);
  for (const [eventName, mark] of [
    ['call:started', undefined],
    [COMPLETED, 'dead-lettered'],
  ] as const) {
    const [key, token] = [`c1:${eventName}`, `token of ${eventName}`];
    await store.admit({ key, token, webhookId: token, replayUntil: now, leaseMs: MINUTE });
    await store.complete(key, token, mark);
  }
  const [startedAt, failedAt] = [now - 50 * MINUTE, now - 49 * MINUTE];
  const started = {
    ...({
      at: startedAt,
      durationMs: 12,
      source: 'webhook',
      attempt: 1,
      outcome: 'handled',
    } as const),
    ...{ webhookId: 'w8', eventName: 'call:started', callId: 'c1', key: 'c1:call:started' },
  } as const;
  const failed = {
    ...({
      at: failedAt,
      durationMs: 13,
      source: 'redrive',
      attempt: 3,
      outcome: 'handler-failed',
    } as const),
    ...{ webhookId: 'w9', eventName: COMPLETED, callId: 'c1', key: `c1:${COMPLETED}` },
  } as const;
  const error = `The handler failed: ${CRM} for c1`;
  await store.log?.append({
    ...{ id: 'batch', rows: [{ ...started, process: 'p' }], counts: {} },
    failures: [{ ...failed, process: 'p', error }],
    marks: { [counterName('ack', '', COMPLETED, 's')]: startedAt },
    process: { id: 'p', host: 'h', pid: 1, startedAt: now - 1_440 * MINUTE, at: now, inFlight: 0 },
  });
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 7, startAt: now - 60 * MINUTE, retryJitter: 0, patience: MINUTE },
  });
  closing.push(() => simulator.close());
  const env = { ...made.env, CALL_WEBHOOKS_SIMULATOR: simulator.url };
  const flags = [
    '--to',
    made.url,
    '--allow-writes',
    '--allow-external',
    '--prefix',
    'call_webhooks_',
  ];
  const { ask } = await assistant(flags, env);
  return {
    ...{ ...made, ids: ids as [string, string, string], simulator },
    /** The whole answer. */
    answer: async (name: string, given: Record<string, unknown> = {}) =>
      (await ask(name, given)).answer,
    startedAt: new Date(startedAt).toISOString(),
    rows: {
      started: { ...started, at: new Date(startedAt).toISOString() },
      failed: {
        ...{ ...failed, at: new Date(failedAt).toISOString() },
        untrusted: { error: `The handler failed: ${CRM} for …` },
      },
    },
    now,
  };
}

const causeOf = (id: string, at: [first: number, last: number], newest: string, error: string) => ({
  ...{ id, count: at[0] === at[1] ? 1 : 2, eventNames: [COMPLETED], newest, untrusted: { error } },
  ...{ firstAt: second(at[0]).toISOString(), lastAt: second(at[1]).toISOString() },
});
const CRM_DOWN = '1938b76b5eb0';
const NO_ID = '7cb61663c647';
const letterOf = (at: number, id: string, more: object = {}) => ({
  ...{ id, eventName: COMPLETED, reason: 'handler-failed', callId: `c${at}`, attempts: 1 },
  ...{ firstFailedAt: second(at).toISOString(), lastFailedAt: second(at).toISOString() },
  ...{ untrusted: { error: CRM }, ...more },
});
/** The attempt before it is not kept. */
const firstLetter = (id: string) => {
  const { firstFailedAt: deadLetterSince, ...letter } = letterOf(1, id, { attempts: 2 });
  return { ...letter, deadLetterSince };
};

describe('the whole answer', () => {
  test('of dead_letters: the causes, and the letters of one', async () => {
    const { ids, answer } = await stored();
    const [first, other, last] = ids;
    const crm = causeOf(CRM_DOWN, [1, 3], last, CRM);
    const noId = causeOf(NO_ID, [2, 2], other, 'Error: no id');
    expect(await answer('dead_letters')).toEqual({ letters: 3, causes: [crm, noId] });
    expect(await answer('dead_letters', { limit: 1 })).toEqual({ letters: 3, causes: [crm] });
    expect(await answer('dead_letters', { reason: 'invalid-payload' })).toEqual({
      ...{ letters: 1, causes: [noId] },
    });
    const newestFirst = [letterOf(3, last), firstLetter(first)];
    const ofCrm = { letters: 2, causes: [crm] };
    expect(await answer('dead_letters', { cause: CRM_DOWN })).toEqual({ ...ofCrm, newestFirst });
    expect(await answer('dead_letters', { cause: CRM_DOWN, limit: 1 })).toEqual({
      ...{ ...ofCrm, newestFirst: newestFirst.slice(0, 1) },
    });
    const since = second(2).toISOString();
    expect(await answer('dead_letters', { since })).toMatchObject({ letters: 2 });
    for (const none of [{ tenant: 'acme' }, { eventName: 'call:started' }, { cause: '00000000' }])
      expect(await answer('dead_letters', none)).toMatchObject({ letters: 0, causes: [] });
  });

  test('of dead_letter: its history, and its body without personal data', async () => {
    const { ids, answer, deadLetters } = await stored();
    const [first, other] = ids;
    const was = (at: number, attempt: number, error: string) => ({
      ...{ at: second(at).toISOString(), source: 'webhook', attempt, untrusted: { error } },
    });
    const untrustedBody = `{"eventName":"${COMPLETED}","callId":"c1","name":"••• text"}`;
    expect(await answer('dead_letter', { id: first.slice(0, 6) })).toEqual({
      ...{ ...firstLetter(first), history: [was(1, 2, CRM)], untrustedBody },
    });
    await deadLetters.claim(other, { token: 'redrive', leaseMs: MINUTE });
    const error = 'Error: no id';
    const { claimedUntil } = (await deadLetters.get(other))!;
    expect(await answer('dead_letter', { id: other })).toEqual({
      ...letterOf(2, other, { reason: 'invalid-payload', untrusted: { error } }),
      ...{ beingRedrivenUntil: claimedUntil?.toISOString(), history: [was(2, 1, error)] },
      untrustedBody: '(7 bytes that are not JSON)',
    });
  });

  test('of call: the states of its events, its dead letters and its deliveries', async () => {
    const { ids, answer, rows, startedAt } = await stored();
    const events = (started: string, completed: string) => [
      { eventName: 'call:started', state: started },
      { eventName: COMPLETED, state: completed },
    ];
    expect(await answer('call', { callId: 'c1' })).toEqual({
      ...{ events: events('handled', 'dead-lettered'), deadLetters: [firstLetter(ids[0])] },
      ...{ deliveries: [rows.failed, rows.started], deliveriesLookedBackTo: startedAt },
    });
    expect(await answer('call', { callId: 'c9' })).toEqual({
      ...{ events: events('unknown', 'unknown'), deadLetters: [], deliveries: [] },
      deliveriesLookedBackTo: startedAt,
    });
  });

  test('of call: its deliveries, whose rows keep no phone number, also if its id is one', async () => {
    const { store, answer } = await stored();
    const number = '+12025550199';
    const now = Date.now();
    const row = { at: now, process: 'p', source: 'webhook', outcome: 'handled' } as const;
    await store.log?.append({
      ...{ id: 'of a number', failures: [], counts: {}, marks: {} },
      rows: [{ ...row, durationMs: 1, webhookId: 'w10', callId: redactId(number) }],
      process: { id: 'p', host: 'h', pid: 1, startedAt: now, at: now, inFlight: 0 },
    });
    expect(await answer('call', { callId: number })).toMatchObject({
      deliveries: [{ webhookId: 'w10' }],
    });
  });

  test('of deliveries: the newest first, and how many of a page are left out', async () => {
    const { answer, rows, startedAt } = await stored();
    const { started, failed } = rows;
    const page = { leftOut: 0, lookedBackTo: startedAt };
    const none = { ...page, rows: [] };
    for (const [given, expected] of [
      [{}, { ...page, rows: [failed, started] }],
      [{ limit: 1 }, { ...page, rows: [failed], leftOut: 1 }],
      [{ failed: true }, { rows: [failed], leftOut: 0, lookedBackTo: failed.at }],
      [{ source: 'redrive' }, { ...page, rows: [failed] }],
      [{ outcome: 'handled' }, { ...page, rows: [started] }],
      [{ outcome: 'queued' }, none],
      [{ tenant: 'acme' }, none],
      [{ since: failed.at }, { rows: [failed], leftOut: 0, lookedBackTo: failed.at }],
      [{ until: '2h' }, { rows: [], leftOut: 0 }],
      [
        { since: '2h', until: '0s' },
        { ...page, rows: [failed, started] },
      ],
    ] as const)
      expect([given, await answer('deliveries', given)]).toEqual([given, expected]);
  });

  test('of deliveries: page by page, each once', async () => {
    const { store, answer } = await stored();
    const now = Date.now();
    const process = { id: 'p', host: 'h', pid: 1, startedAt: now, at: now, inFlight: 0 };
    const row = { process: 'p', durationMs: 1, source: 'webhook', outcome: 'replayed' } as const;
    for (let batch = 1; batch <= 4; batch++)
      await store.log?.append({
        ...{ id: `more ${batch}`, process, counts: {}, marks: {}, failures: [] },
        rows: [{ ...row, at: now + batch, webhookId: `again-${batch}` }],
      });
    const ids: unknown[] = [];
    let before: unknown;
    do {
      const page = await answer('deliveries', { limit: 1, outcome: 'replayed', before });
      ids.push(...(page['rows'] as { webhookId: string }[]).map(({ webhookId }) => webhookId));
      before = page['before'];
    } while (before !== undefined && ids.length < 9);
    expect(ids).toEqual(['again-4', 'again-3', 'again-2', 'again-1']);
  });

  test('of status: what needs attention, with its fix', async () => {
    const { answer, startedAt } = await stored();
    expect(await answer('status')).toEqual({
      at: expect.stringMatching(/^20\d\d-\S+Z$/),
      summary: `1 thing needs attention: ${COMPLETED} is failing.`,
      attention: [
        {
          ...{ kind: 'failing', urgent: false, eventName: COMPLETED, count: 3 },
          since: second(1).toISOString(),
          text: `3 ${COMPLETED} events are dead letters, the oldest one since 2 Jan 03:04 UTC. The most frequent error is ${CRM} (2 of 3 failures). Dead letters cannot pause the rule.`,
          fix: 'Look at the dead letters, fix the cause, and redrive them.',
          docs: 'https://call-webhooks.github.io/call-webhooks/status.html#failing',
        },
      ],
      events: [{ eventName: COMPLETED, state: 'attention', arrivedAt: startedAt }],
      notes: [],
    });
  });

  test('of redrive_command: a command for a person, with all flags of the store and the receiver', async () => {
    const { answer, url } = await stored();
    const note =
      'A person has to run this command, with CALL_WEBHOOKS_STORE and CALL_WEBHOOK_SECRET set. It runs the handlers again, so make sure that the cause is fixed.';
    const command = `npx call-webhooks dead-letters redrive --cause ${CRM_DOWN}`;
    const flags = ' --prefix call_webhooks_ --allow-external';
    expect(await answer('redrive_command', { cause: CRM_DOWN })).toEqual({
      ...{ letters: 2, command: `${command} --to ${url}${flags}`, note },
    });
    const of = { cause: CRM_DOWN, tenant: 'a b', to: 'https://hooks.example.net/x' };
    expect(await answer('redrive_command', of)).toEqual({
      ...{ letters: 0, note },
      command: `${command} --tenant 'a b' --to https://hooks.example.net/x${flags}`,
    });
  });

  test('of reconcile_dry_run: the window, the counts, what is doubtful, why, and the events', async () => {
    const { answer, simulator, now } = await stored();
    const { _id } = simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance('2m');
    const until = new Date(now - 30 * MINUTE).toISOString();
    const since = new Date(now - 120 * MINUTE).toISOString();
    const counts = { known: 0, failed: 0, inDeadLetters: 0, skipped: 0 };
    const found = await answer('reconcile_dry_run', { since, until });
    expect(found).toEqual({
      ...{ since, until, seen: 1, missed: 1, ...counts },
      doubt: expect.stringMatching(/^The store knows none of these events\. .*looks missed\.$/),
      reasons: [{ kind: expect.any(String), missed: 1, text: expect.any(String) }],
      events: [
        {
          eventName: COMPLETED,
          callId: _id,
          at: new Date(now - 60 * MINUTE + 20_000).toISOString(),
        },
      ],
    });
    expect(await answer('reconcile_dry_run', { since, until: '70m' })).toEqual({
      ...{ since, until: expect.any(String), seen: 0, missed: 0, ...counts, events: [] },
    });
  });

  test('of the simulator: its events from the newest, its clock, and what runs when it advances', async () => {
    const { answer, simulator, now } = await stored();
    const target = await receiver(() => ({ status: 200, body: '{"outcome":"handled"}' }));
    closing.push(() => target.close());
    simulator.rules.create({
      ...{ trigger: COMPLETED, scope: 'workspace' },
      actions: [{ url: target.url, signed: false }],
    });
    const note = 'The clock is manual. To continue the call, use simulator_advance with 5s.';
    const { callId } = await answer('simulator_call');
    const begun = now - 60 * MINUTE;
    expect(await answer('simulator_advance', { by: '5s' })).toEqual({
      ...{ mode: 'manual', now: begun + 5_000, nextDueAt: null, inFlight: 0 },
      attempts: { ended: 1, acknowledged: 1 },
    });
    const second = await answer('simulator_call');
    expect(second).toEqual({ callId: expect.stringMatching(/^[\da-f]{24}$/), note });
    const { nextDueAt, ...clock } = await answer('simulator_clock');
    expect(clock).toEqual({ mode: 'manual', now: begun + 5_000, inFlight: 0 });
    expect(nextDueAt).toEqual(expect.any(Number));
    await answer('simulator_advance', { by: '5s' });
    const events = simulator.events.list().map((event) => ({
      ...{ id: event._id, eventName: COMPLETED, state: 'acknowledged', callId: event.callId },
      attempts: [
        {
          at: new Date(event.attempts[0]!.startedAt).toISOString(),
          response: 200,
          outcome: 'handled',
        },
      ],
    }));
    expect(events.map((event) => event.callId)).toEqual([callId, second['callId']]);
    const newestFirst = [...events].reverse();
    expect(await answer('simulator_events')).toEqual({ events: newestFirst });
    expect(await answer('simulator_events', { limit: 1 })).toEqual({
      ...{ events: newestFirst.slice(0, 1) },
    });
    expect(await answer('simulator_events', { callId })).toEqual({ events: events.slice(0, 1) });
  });
});

test('doctor answers with every check of a setup, in order, each with its fix', async () => {
  const { answer } = await stored();
  const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);
  const { checks } = await answer('doctor');
  const [, ...found] = checks as { check: string }[]; // the first is of this version of Node.js
  expect(found).toEqual([
    { check: 'packages', result: 'ok', text: like(/^All call-webhooks packages have version /) },
    {
      ...{ check: 'secrets', result: 'warn' },
      text: 'Only one secret is given, but each action has its own secret, and so does the recording webhook.',
      fix: 'Set CALL_WEBHOOK_SECRET to the secrets of all actions, separated by commas, and set RECORDING_WEBHOOK_SECRET.',
    },
    { check: 'proxy', result: 'ok', text: 'No proxy is configured (HTTP_PROXY, HTTPS_PROXY).' },
    { check: 'store', result: 'ok', text: like(/^SQLite \d\S+ responds\.$/) },
    { check: 'store speed', result: 'ok', text: like(/^A lookup takes [\d.]+ \S+\.$/) },
    {
      ...{ check: 'dead letters', result: 'warn' },
      text: '3 dead letters are waiting to be redriven or removed.',
      fix: 'To see the causes: npx call-webhooks dead-letters causes',
    },
    {
      ...{
        check: 'status',
        result: 'warn',
        text: like(/^3 call:completed events are dead letters/),
      },
      fix: 'Look at the dead letters, fix the cause, and redrive them.',
    },
    {
      ...{ check: 'receiver', result: 'ok' },
      text: 'A forged delivery is rejected. A genuine delivery is acknowledged.',
    },
    { check: 'large body', result: 'ok', text: 'A body of 256 kB is acknowledged.' },
    { check: 'unknown path', result: 'ok', text: 'A request to /hook-typo results in 401.' },
    {
      ...{ check: 'clock', result: 'ok' },
      text: "The receiver's clock agrees with the clock of this machine.",
    },
    { check: 'field names', result: 'skipped', text: 'Pass --capture FILE.' },
    {
      ...{ check: 'REST API', result: 'skipped' },
      text: 'Pass --base-url URL, or set CALL_WEBHOOKS_BASE_URL.',
    },
  ]);
});
