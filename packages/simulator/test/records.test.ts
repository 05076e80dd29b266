import { describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKSPACE, type SimulatorOptions } from '@call-webhooks/simulator';
import { getJson } from './support/rest.ts';
import { STARTED_AT, testResources } from './support/test-resources.ts';

const open = testResources();
const [ada, ben] = DEFAULT_WORKSPACE.users;
const anId = expect.stringMatching(/^[0-9a-f]{24}$/) as unknown as string;
const WALL = Date.UTC(2030, 5, 1);

/** A rule of Ada, and a call of hers whose first event is answered by `statuses`, one after the other. */
async function oneCall(statuses: number[], options: SimulatorOptions = {}) {
  const simulator = await open.simulator({
    ...{ retryJitter: 0, maxAttempts: 3, wallClock: () => WALL },
    ...options,
  });
  const receiver = await open.receiver((_received, response, count) => {
    response.sendDate = false;
    response.writeHead(statuses[count - 1] ?? 200, { 'x-own': 'yes' }).end('no');
  });
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url }],
  });
  const call = simulator.calls.place({
    durationSeconds: 20,
    calledName: 'Dana Reyes',
    calledNumber: '+12025550101',
    calledEmail: 'dana@customer.example',
  });
  await simulator.events.settled();
  const control = async <Body>(path: string): Promise<Body> =>
    (await (await fetch(`${simulator.url}/_sim${path}`)).json()) as Body;
  return { simulator, receiver, rule, call, control };
}

/** An attempt as the service keeps it, and as the control API summarizes it. */
function attempt(number: number, at: number, url: string, status: number, result: object) {
  const fields = {
    ...{ number, kind: 'scheduled', chaos: [], result },
    ...{ startedAt: at, endedAt: at, tookMs: expect.any(Number) },
  };
  return {
    kept: {
      ...fields,
      request: {
        url,
        headers: {
          'User-Agent': 'call-webhooks-simulator',
          'Content-Type': 'application/json',
          'Content-Length': expect.stringMatching(/^\d+$/),
          'X-Service-Webhook-Id': expect.stringMatching(/^[0-9a-f-]{36}$/),
          'X-Service-Timestamp': String(WALL / 1_000),
          'X-Service-Signature': expect.stringMatching(/^v1,/),
        },
        body: expect.stringMatching(/^\{"eventName":"call:started"/),
      },
      response: {
        kind: 'status',
        status,
        headers: { 'x-own': 'yes', connection: 'close', 'transfer-encoding': 'chunked' },
        body: 'no',
        truncated: false,
      },
    },
    summary: { ...fields, url, dropped: false, response: { kind: 'status', status } },
  };
}

describe('a record has all its fields, and no other', () => {
  test('a rule, its action and its secret', async () => {
    const { simulator, rule, receiver } = await oneCall([]);
    expect(rule).toEqual({
      _id: anId,
      kind: 'rule',
      name: 'I start a call',
      trigger: 'call:started',
      scope: 'user',
      ownerId: ada!._id,
      state: 'active',
      actions: [{ _id: anId, type: 'webhook', url: receiver.url, signed: true }],
    });
    const paused = simulator.rules.pause(rule._id);
    expect(paused).toEqual({
      ...{ ...rule, state: 'paused', pauseReason: 'by-hand' },
      pausedAt: STARTED_AT,
    });
    await simulator.clock.advance('1m');
    expect(simulator.rules.pause(rule._id, 'responded-404')).toEqual(paused);
    expect(simulator.rules.resume(rule._id)).toEqual(rule);
    const { _id } = rule.actions[0]!;
    const first = simulator.secrets.get(_id)!;
    expect(first).toEqual({ current: expect.stringMatching(/^whsec_/), rotations: 0 });
    for (const rotations of [1, 2]) {
      const previous = simulator.secrets.get(_id)!.current;
      const current = simulator.secrets.rotate(_id);
      expect(simulator.secrets.get(_id)).toEqual({ current, previous, rotations });
      expect(current).not.toBe(previous);
    }
  });

  test.each([
    ['call:started', 'user', 'I start a call'],
    ['call:started', 'workspace', 'A teammate starts a call'],
    ['call:completed', 'user', 'I finish a call'],
    ['call:completed', 'workspace', 'A teammate finishes a call'],
  ] as const)('a rule for %s of the scope %s is named "%s"', async (trigger, scope, name) => {
    const { rules } = await open.simulator();
    expect(rules.create({ trigger, scope, ownerId: ben!._id })).toEqual({
      ...{ _id: anId, kind: 'rule', name, trigger, scope, ownerId: ben!._id },
      ...{ state: 'active', actions: [] },
    });
  });

  test('the recording webhook', async () => {
    const { rules } = await open.simulator();
    const url = 'http://127.0.0.1:9/hook';
    expect(rules.setRecordingWebhook({ url })).toEqual({
      _id: anId,
      kind: 'recording-webhook',
      name: 'Call recording webhook',
      trigger: 'call:recording-available',
      scope: 'workspace',
      ownerId: ada!._id,
      state: 'active',
      actions: [{ _id: anId, type: 'webhook', url, signed: true }],
    });
  });

  test('a call, while it is ongoing and once it has ended', async () => {
    const { simulator, call } = await oneCall([], { recordingFirst: 0 });
    const { calls, clock } = simulator;
    expect(call).toEqual({
      _id: anId,
      state: 'ongoing',
      placedBy: ada!._id,
      fromPhoneNumber: { number: '+12025550199', label: 'Main line' },
      calledNumber: '+12025550101',
      calledEmail: 'dana@customer.example',
      calledName: 'Dana Reyes',
      createdAt: STARTED_AT,
      dialedAt: STARTED_AT,
      recorded: true,
      plannedMs: 20_000,
    });
    await clock.advance('20s');
    const endedAt = STARTED_AT + 20_000;
    expect(calls.get(call._id)).toEqual({ ...call, state: 'ended', endedAt, loggedAt: endedAt });
    await clock.advance('999ms');
    expect(calls.get(call._id)).not.toHaveProperty('recording');
    await clock.advance('1ms');
    expect(calls.get(call._id)).toEqual({
      ...{ ...call, state: 'ended', endedAt, loggedAt: endedAt },
      recording: {
        startedAt: STARTED_AT,
        durationSeconds: 20,
        availableAt: STARTED_AT + 21_000,
      },
    });
  });

  test('a call whose recording comes first is logged two seconds after its end', async () => {
    const { simulator, call } = await oneCall([], { recordingFirst: 1 });
    await simulator.clock.advance('21s');
    expect(simulator.calls.get(call._id)).toHaveProperty('recording.availableAt');
    await simulator.clock.advance('999ms');
    expect(simulator.calls.get(call._id)).not.toHaveProperty('loggedAt');
    await simulator.clock.advance('1ms');
    expect(simulator.calls.get(call._id)).toMatchObject({ loggedAt: STARTED_AT + 22_000 });
  });

  test('of many calls, the recordings of some come first, and those of others second', async () => {
    const { calls, clock } = await open.simulator();
    for (let placed = 0; placed < 60; placed++) calls.place({ durationSeconds: 1 });
    await clock.runUntilIdle();
    const first = calls.list().filter((one) => one.recording!.availableAt < one.loggedAt!).length;
    expect(first).toBeGreaterThan(15);
    expect(first).toBeLessThan(45);
  });

  test('a call that nobody planned, with what was given and without what is not known', async () => {
    const { calls } = await open.simulator();
    const given = {
      placedBy: ben!._id,
      fromPhoneNumber: { number: '+1' },
      calledNumber: '+2',
      recorded: false,
      fieldNames: { calledName: 'who' },
    };
    expect(calls.start({ ...given, calledName: null, calledEmail: null })).toEqual({
      ...given,
      ...{ _id: anId, state: 'ongoing', createdAt: STARTED_AT, dialedAt: STARTED_AT },
    });
    const { calledName, calledEmail } = calls.start({ calledEmail: null });
    expect([calledName, calledEmail]).toEqual([expect.any(String), undefined]);
    expect(() => calls.start({ placedBy: 'nobody' })).toThrow('no user with this id');
  });

  test.each([
    [0, 1],
    [0.4, 1],
    [1.4, 1],
    [1.5, 2],
    [90, 90],
  ])('a call of %d s has a recording of %d s', async (durationSeconds, recorded) => {
    const { calls, clock } = await open.simulator();
    const { _id } = calls.place({ durationSeconds });
    await clock.runUntilIdle();
    expect(calls.get(_id).recording).toMatchObject({ durationSeconds: recorded });
  });

  test('an event and its attempts, through a retry, a 404 and a resend', async () => {
    const { simulator, receiver, rule, call, control } = await oneCall([500, 404]);
    const { url } = receiver;
    const [action] = rule.actions;
    const sent = { ruleId: rule._id, actionId: action!._id, callId: call._id };
    const fields = { ...sent, _id: anId, number: 1, eventName: 'call:started' };
    const event = { ...fields, createdAt: STARTED_AT };
    const body = expect.stringMatching(/^\{"eventName":"call:started"/);
    const names = { url, ruleName: 'I start a call', callName: 'Dana Reyes' };
    const first = attempt(1, STARTED_AT, url, 500, { next: 'retry', reason: 'status' });

    const waiting = { ...event, state: 'waiting', nextAttemptAt: STARTED_AT + 300_000 };
    expect(simulator.events.list()).toEqual([{ ...waiting, body, attempts: [first.kept] }]);
    const [shown] = await control<{ _id: string }[]>('/events');
    expect(shown).toEqual({ ...waiting, ...names, attempts: [first.summary] });

    await simulator.clock.runUntilIdle();
    const pausedBy404 = { next: 'paused', reason: 'responded-404' };
    const second = attempt(2, STARTED_AT + 300_000, url, 404, pausedBy404);
    const failed = { ...event, state: 'failed' };
    expect(simulator.events.list()).toEqual([
      { ...failed, body, attempts: [first.kept, second.kept] },
    ]);
    const withNames = (one: typeof first) => ({ ...one.kept, url, dropped: false });
    expect(await control(`/events/${shown!._id}`)).toEqual({
      ...{ ...failed, ...names, body, attempts: [withNames(first), withNames(second)] },
    });

    const copy = simulator.events.resend(shown!._id);
    expect(copy).toEqual({
      ...{ ...event, number: 2, createdAt: STARTED_AT + 300_000, body, attempts: [] },
      ...{ state: 'in-flight', copyOf: shown!._id, copiedBy: 'resend' },
    });
    await simulator.events.settled();
    const third = attempt(1, STARTED_AT + 300_000, url, 200, { next: 'acknowledged' });
    expect((await control<unknown[]>('/events'))[1]).toEqual({
      ...{ ...event, number: 2, createdAt: STARTED_AT + 300_000, ...names },
      ...{ copyOf: shown!._id, copiedBy: 'resend' },
      ...{ state: 'acknowledged', attempts: [third.summary] },
    });
  });

  test('an event that is not sent', async () => {
    const { simulator, rule, call } = await oneCall([500], { whilePaused: 'drop' });
    const { events, rules } = simulator;
    rules.pause(rule._id);
    simulator.calls.start();
    const dropped = { state: 'dropped', droppedBecause: 'rule-paused' };
    expect(events.list()).toMatchObject([{ ...dropped, callId: call._id }, dropped]);
    for (const event of events.list()) expect(event).not.toHaveProperty('nextAttemptAt');
    rules.resume(rule._id);
    simulator.calls.start();
    await events.settled();
    const second = rules.addAction(rule._id, { url: 'http://127.0.0.1:9/' });
    simulator.calls.start();
    await events.settled();
    rules.removeAction(rule._id, second._id);
    expect(events.list({ state: 'dropped' }).map((one) => one.droppedBecause)).toEqual([
      ...['rule-paused', 'rule-paused', 'action-removed'],
    ]);
  });

  test.each([
    [404, 'its URL returned 404 and is considered gone. The event will not be retried.'],
    [500, 'the last attempt to deliver an event failed.'],
  ])('the email about a pause after %d', async (status, because) => {
    const { simulator, rule } = await oneCall([status], { maxAttempts: 1 });
    const name = 'I start a call';
    expect(simulator.outbox.list()).toEqual([
      {
        _id: anId,
        sentAt: STARTED_AT,
        to: [ada!.email],
        subject: `Your rule "${name}" is paused`,
        text: `The rule "${name}" (call:started) is paused: ${because}`,
        ruleId: rule._id,
      },
    ]);
  });

  test('no email is sent about a pause by hand', async () => {
    const { simulator, rule } = await oneCall([]);
    simulator.rules.pause(rule._id);
    expect(simulator.outbox.list()).toEqual([]);
  });

  test('a record of GET /v1/calls', async () => {
    const { simulator, call } = await oneCall([]);
    const record = {
      _id: call._id,
      userId: ada!._id,
      createdAt: STARTED_AT,
      toPhoneNumber: '+12025550101',
      recipientEmail: 'dana@customer.example',
      recipientName: 'Dana Reyes',
      startedAt: '2026-01-31T12:00:00.000Z',
      fromPhoneNumber: { number: '+12025550199', label: 'Main line' },
    };
    const page = { next: null, hasNext: false };
    const results = [{ ...record, recording: null }];
    expect(await getJson(simulator, '/calls')).toEqual({ ...page, results });
    await simulator.clock.advance('1m');
    const ended = { endedAt: '2026-01-31T12:00:20.000Z', recording: { durationSeconds: 20 } };
    const after = [{ ...record, ...ended }];
    expect(await getJson(simulator, '/calls')).toEqual({ ...page, results: after });
  });

  test('the state of the simulator', async () => {
    const { simulator, rule, call, control } = await oneCall([500], {
      ...{ seed: 'mine', chaos: { replay: 0.25 }, whilePaused: 'hold' },
      ...{ maxAttempts: 7, retryEvery: '2m', acknowledgeWithin: '9s' },
    });
    simulator.messages.send({ subject: 'Hi', to: 'a@x.example' });
    const events = await control<unknown[]>('/events');
    expect(await control('/state')).toEqual({
      seed: 'mine',
      url: simulator.url,
      policy: {
        ...{ maxAttempts: 7, retryEvery: 120_000, acknowledgeWithin: 9_000, whilePaused: 'hold' },
      },
      clock: { mode: 'manual', now: STARTED_AT, nextDueAt: STARTED_AT + 20_000, inFlight: 0 },
      counts: { calls: 1, events: { waiting: 1 }, mails: 0, messages: 1 },
      chaos: { ...simulator.chaos.clear(), replay: 0.25 },
      rules: [rule],
      calls: [call],
      events,
      matching: { waiting: 1 },
      outbox: [],
    });
  });
});
