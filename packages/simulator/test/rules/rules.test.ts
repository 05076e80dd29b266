import { describe, expect, test } from '@jest/globals';
import {
  type Rule,
  type Simulator,
  type SimulatorOptions,
  DEFAULT_WORKSPACE,
} from '@call-webhooks/simulator';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

/** A request to the control API. @returns the status, and the JSON body if there is one */
async function control(simulator: Simulator, method: string, path: string, body?: unknown) {
  const response = await fetch(`${simulator.url}/_sim${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = text === '' ? undefined : (JSON.parse(text) as unknown);
  return [response.status, answer] as const;
}

async function oneRule(options: SimulatorOptions = {}) {
  const simulator = await open.simulator(options);
  const receiver = await open.receiver(503);
  const other = await open.receiver();
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url }],
  });
  return { simulator, receiver, other, rule, path: `/rules/${rule._id}`, ...actionOf(rule) };
}

const actionOf = (rule: Rule) => ({
  actionId: rule.actions[0]!._id,
  actionPath: `/rules/${rule._id}/actions/${rule.actions[0]!._id}`,
});

describe('secrets', () => {
  test('end with their action, their rule, and its signature', async () => {
    const { simulator, rule, actionId, receiver } = await oneRule();
    const { rules, secrets } = simulator;
    const isKnown = (id: string) => [secrets.all().length, secrets.get(id) !== undefined];
    expect(isKnown(actionId)).toEqual([1, true]);
    rules.updateAction(rule._id, actionId, { signed: false });
    expect(isKnown(actionId)).toEqual([0, false]);
    const added = rules.addAction(rule._id, { url: receiver.url });
    expect(isKnown(added._id)).toEqual([1, true]);
    rules.removeAction(rule._id, added._id);
    expect(isKnown(added._id)).toEqual([0, false]);
    const recording = rules.setRecordingWebhook({ url: receiver.url });
    expect(isKnown(actionOf(recording).actionId)).toEqual([1, true]);
    rules.remove(recording._id);
    expect(isKnown(actionOf(recording).actionId)).toEqual([0, false]);
    expect(await control(simulator, 'GET', '/secrets')).toEqual([200, { [actionId]: null }]);
  });
});

describe('the secret of an action stays as it is', () => {
  const OWN = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';
  type Change = (simulator: Simulator, rule: Rule, url: string) => unknown;
  const update =
    (changes: object): Change =>
    ({ rules }, rule, url) =>
      rules.updateAction(rule._id, actionOf(rule).actionId, { url, ...changes });

  test.each<[what: string, secret: string | undefined, isRotated: boolean]>([
    ['generated', undefined, false],
    ['chosen', OWN, false],
    ['rotated', undefined, true],
    ['chosen and rotated', OWN, true],
  ])('if it was %s, whatever else changes', async (_what, secret, isRotated) => {
    const simulator = await open.simulator();
    const { rules, secrets } = simulator;
    const [url, other] = ['http://127.0.0.1:1/hook', 'http://127.0.0.1:2/hook'];
    const actions = [{ url, ...(secret !== undefined && { secret }) }];
    const rule = rules.create({ trigger: 'call:started', actions });
    const recording = rules.setRecordingWebhook(actions[0]!);
    const changes: [Rule, Change][] = [
      [rule, update({})],
      [rule, update({ payload: { id: '{{callId}}' } })],
      [rule, update({ signed: true })],
      [rule, ({ rules }, { _id }) => (rules.pause(_id), rules.resume(_id))],
      [rule, ({ rules }, { _id }) => rules.addAction(_id, { url })],
      [recording, update({})],
      [recording, (_simulator, _rule, given) => rules.setRecordingWebhook({ url: given })],
    ];
    const all = () => [rule, recording].map((one) => secrets.get(actionOf(one).actionId));
    if (isRotated) for (const one of [rule, recording]) secrets.rotate(actionOf(one).actionId);
    const before = all();
    expect(before[0]?.rotations).toBe(isRotated ? 1 : 0);
    for (const [one, change] of changes) {
      change(simulator, one, other);
      expect(all()).toEqual(before);
    }
    expect(rules.get(recording._id).actions).toMatchObject([{ url: other }]);
  });
});

describe('actions', () => {
  test('a new URL gets later events and the retries of earlier ones', async () => {
    const { simulator, receiver, other, actionPath } = await oneRule();
    simulator.calls.start();
    await simulator.clock.advance('1s');
    expect(receiver.received).toHaveLength(1);
    const [status, action] = await control(simulator, 'PATCH', actionPath, { url: other.url });
    expect([status, action]).toMatchObject([200, { url: other.url, signed: true }]);
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 1 });
    expect([receiver.received.length, other.received.length]).toEqual([1, 1]);
  });

  test('a payload is set, and removed with null; the secret stays', async () => {
    const { simulator, other, rule, actionId } = await oneRule();
    const secret = simulator.secrets.get(actionId);
    const update = (payload: unknown) =>
      simulator.rules.updateAction(rule._id, actionId, { url: other.url, payload });
    expect(update({ id: '{{callId}}' })).toMatchObject({ payload: { id: '{{callId}}' } });
    simulator.calls.start();
    await simulator.events.settled();
    expect(Object.keys(JSON.parse(other.received[0]!.body) as object)).toEqual(['id']);
    expect(update(null)).not.toHaveProperty('payload');
    expect(simulator.secrets.get(actionId)).toEqual(secret);
  });

  test('a change of one field leaves the others as they are', async () => {
    const { simulator, rule, actionId, other } = await oneRule();
    const { rules, secrets } = simulator;
    const payload = { id: '{{callId}}' };
    rules.updateAction(rule._id, actionId, { payload });
    const [before] = rules.get(rule._id).actions;
    const secret = secrets.get(actionId);
    const moved = { ...before, url: other.url };
    expect(rules.updateAction(rule._id, actionId, { url: other.url })).toEqual(moved);
    expect(secrets.get(actionId)).toEqual(secret);
    const own = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';
    expect(rules.updateAction(rule._id, actionId, { secret: own })).toEqual(moved);
    expect(secrets.get(actionId)?.current).toBe(own);
    const unsigned = { ...moved, signed: false };
    expect(rules.updateAction(rule._id, actionId, { signed: false })).toEqual(unsigned);
    expect(rules.updateAction(rule._id, actionId, {})).toEqual(unsigned);
  });

  test('an action that was unsigned gets a secret, and an own one starts its rotations anew', async () => {
    const { simulator, rule, actionId } = await oneRule();
    const { rules, secrets } = simulator;
    rules.updateAction(rule._id, actionId, { signed: false });
    expect(rules.updateAction(rule._id, actionId, { signed: true })).toMatchObject({
      signed: true,
    });
    const generated = secrets.get(actionId);
    expect(generated).toEqual({ current: expect.stringMatching(/^whsec_/), rotations: 0 });
    secrets.rotate(actionId);
    const current = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';
    rules.updateAction(rule._id, actionId, { secret: current });
    expect(secrets.get(actionId)).toEqual({ current, rotations: 0 });
    expect(secrets.all()).toEqual([current]);
  });

  test('a removed action gets nothing more: waiting events are dropped', async () => {
    const { simulator, receiver, actionPath, actionId } = await oneRule();
    simulator.calls.start();
    await simulator.clock.advance('1s');
    expect(await control(simulator, 'DELETE', actionPath)).toEqual([204, undefined]);
    expect(simulator.events.counts()).toEqual({ dropped: 1 });
    expect(simulator.secrets.get(actionId)).toBeUndefined();
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(1);
    const [event] = simulator.events.list();
    expect(() => simulator.events.resend(event!._id)).toThrow('no action');
    expect(await control(simulator, 'DELETE', actionPath)).toMatchObject([404, { error: {} }]);
  });

  test.each([
    [503, 'drop', { state: 'dropped', droppedBecause: 'action-removed' }],
    [503, 'hold', { state: 'dropped', droppedBecause: 'action-removed' }],
    [404, 'drop', { state: 'failed' }],
    [200, 'drop', { state: 'acknowledged' }],
    [200, 'hold', { state: 'acknowledged' }],
  ] as const)(
    'an attempt in flight, ended with %d where paused rules %s, changes nothing else',
    async (status, whilePaused, expected) => {
      const { simulator, receiver, rule, actionId } = await oneRule({ whilePaused });
      let respond: () => void = () => undefined;
      const reached = new Promise<void>((resolve) => {
        receiver.respond = (_received, response) => {
          respond = () => response.writeHead(status).end();
          resolve();
        };
      });
      simulator.calls.start();
      await reached;
      simulator.rules.removeAction(rule._id, actionId);
      respond();
      await simulator.events.settled();
      expect(simulator.events.list()).toMatchObject([expected]); // at once, not when a retry is due
      await simulator.clock.runUntilIdle();
      expect(simulator.events.list()).toMatchObject([expected]);
      expect(receiver.received).toHaveLength(1);
    },
  );

  test('an unsigned action can be recreated to get a secret', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const rule = simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url, signed: false }],
    });
    await control(simulator, 'DELETE', actionOf(rule).actionPath);
    const [, action] = await control(simulator, 'POST', `/rules/${rule._id}/actions`, { url });
    expect(action).toMatchObject({ url, signed: true });
    expect(simulator.secrets.get((action as { _id: string })._id)).toBeDefined();
  });
});

describe('rules', () => {
  test('a removed rule is gone with its secrets; held events are dropped', async () => {
    const simulator = await open.simulator({ whilePaused: 'hold' });
    const { url } = await open.receiver();
    const [rule] = simulator.rules.forwardTo(url);
    simulator.rules.pause(rule!._id);
    simulator.calls.start();
    expect(simulator.events.counts()).toEqual({ held: 1 });
    expect(await control(simulator, 'DELETE', `/rules/${rule!._id}`)).toEqual([204, undefined]);
    expect(simulator.events.counts()).toEqual({ dropped: 1 });
    expect(simulator.rules.list()).toHaveLength(2);
    expect(Object.keys((await control(simulator, 'GET', '/secrets'))[1] as object)).toHaveLength(2);
    expect((await control(simulator, 'GET', `/rules/${rule!._id}`))[0]).toBe(404);
  });

  test('the recording webhook is removed as a whole, and set again', async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const webhook = simulator.rules.setRecordingWebhook({ url });
    const action = webhook.actions[0]!._id;
    expect(() => simulator.rules.removeAction(webhook._id, action)).toThrow('Remove the recording');
    expect(() => simulator.rules.updateAction(webhook._id, action, { payload: 1 })).toThrow(
      'custom',
    );
    simulator.rules.remove(webhook._id);
    expect(simulator.rules.list()).toEqual([]);
    expect(simulator.rules.setRecordingWebhook({ url })._id).not.toBe(webhook._id);
  });
});

const [ada, ben] = DEFAULT_WORKSPACE.users.map(({ _id }) => _id);

test("a user's rule fires for that user's calls, a workspace rule for everybody's", async () => {
  const simulator = await open.simulator();
  const { url } = await open.receiver();
  const actions = [{ url }];
  const trigger = 'call:started';
  const ofAda = simulator.rules.create({ trigger, actions, ownerId: ada });
  const ofBen = simulator.rules.create({ trigger, actions, ownerId: ben });
  const ofAll = simulator.rules.create({ trigger, actions, ownerId: ada, scope: 'workspace' });
  const fired = (placedBy: string | undefined) => {
    const { _id } = simulator.calls.start({ placedBy });
    return simulator.events.list({ callId: _id }).map(({ ruleId }) => ruleId);
  };
  expect(fired(ada)).toEqual([ofAda._id, ofAll._id]);
  expect(fired(ben)).toEqual([ofBen._id, ofAll._id]);
});

test('forwardTo sends the events of all users', async () => {
  const simulator = await open.simulator();
  const receiver = await open.receiver();
  simulator.rules.forwardTo(receiver.url);
  simulator.calls.place({ placedBy: ben });
  await simulator.clock.runUntilIdle();
  expect(receiver.received).toHaveLength(3);
});

test.each(['whsec_', 'whsec_c2hvcnQ=', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAA', 'secret'])(
  'a secret that no receiver takes is refused: %s',
  async (secret) => {
    const { rules } = await open.simulator();
    expect(() => rules.forwardTo('http://127.0.0.1:9/', { secret })).toThrow('signing secret');
    expect(rules.list()).toEqual([]);
  },
);

test.each([
  [15, false],
  [16, true],
  [64, true],
])(
  'a chosen secret of %d bytes is taken: %s, with or without its padding',
  async (size, isTaken) => {
    const { rules, secrets } = await open.simulator();
    const secret = `whsec_${Buffer.alloc(size, 7).toString('base64')}`;
    for (const one of [secret, secret.replace(/=+$/, '')]) {
      const set = () => rules.forwardTo('http://127.0.0.1:9/', { secret: one });
      if (isTaken) expect(set()).toHaveLength(3);
      else expect(set).toThrow('at least 16 bytes');
      expect(secrets.all()).toEqual(isTaken ? expect.arrayContaining([one]) : []);
    }
  },
);

test('a secret that several actions share is listed once', async () => {
  const { rules, secrets } = await open.simulator();
  const secret = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';
  rules.forwardTo('http://127.0.0.1:9/', { secret });
  expect(secrets.all()).toEqual([secret]);
  const [own] = rules.create({
    trigger: 'call:started',
    actions: [{ url: 'http://127.0.0.1:9/' }],
  }).actions;
  expect(secrets.all()).toEqual([secret, secrets.get(own!._id)!.current]);
});

test('the recording webhook has one URL, and a secret of its own that a new URL keeps', async () => {
  const { rules, secrets } = await open.simulator();
  const { _id, actions } = rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/a' });
  const secret = secrets.get(actions[0]!._id);
  expect(() => rules.addAction(_id, { url: 'http://127.0.0.1:9/b' })).toThrow('has one URL');
  const paused = rules.pause(_id);
  const moved = rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/b' });
  // Nothing else of it changes, not even that it is paused.
  expect(moved).toEqual({ ...paused, actions: [{ ...actions[0], url: 'http://127.0.0.1:9/b' }] });
  expect(rules.list()).toEqual([moved]);
  expect(moved).toMatchObject({ _id, actions: [{ url: 'http://127.0.0.1:9/b' }] });
  expect(secrets.get(moved.actions[0]!._id)).toEqual(secret);
  const own = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';
  expect(rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/b', secret: own })).toEqual(moved);
  expect(secrets.all()).toEqual([own]);
});
