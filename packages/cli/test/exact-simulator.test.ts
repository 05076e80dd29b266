import { afterEach, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// Scripts read these records, and people these lines: each has all of its fields, and no others.

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The ids of a simulator by what they are of, its port and that of the receiver, and how long a response took. */
function withoutIds(text: string, { rules, events, calls, url }: Simulator, port: number): string {
  const names = new Map([
    ...calls.list().map(({ _id }, at) => [_id, `call-${at + 1}`] as const),
    ...events.list().map(({ _id }, at) => [_id, `event-${at + 1}`] as const),
    ...rules
      .list()
      .flatMap(({ _id, actions }, at) => [
        [_id, `rule-${at + 1}`] as const,
        ...actions.map((action) => [action._id, `action-${at + 1}`] as const),
      ]),
    ...[[String(port), 'PORT'] as const, [new URL(url).port, 'SIM'] as const],
  ]);
  let shown = text;
  for (const [id, name] of names) {
    shown = shown.replaceAll(id, name);
    if (/^[a-z]/.test(name)) shown = shown.replaceAll(id.slice(0, 8), name);
  }
  return shown.replaceAll(/ {2}\d+ ms/g, '  1 ms').replaceAll(/ {3,}/g, '  ');
}

/** A simulator whose clock stands still on the second of January, and a receiver that answers as it is told. */
async function setup() {
  const answer = { status: 200, body: '{"outcome":"handled"}' };
  const target = await receiver(() => answer);
  closing.push(() => target.close());
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 7, startAt: Date.UTC(2026, 0, 2, 3, 4, 5), retryJitter: 0 },
  });
  closing.push(() => simulator.close());
  const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url, CALL_WEBHOOK_SECRET: SECRET };
  const shown = (text: string) => withoutIds(text, simulator, target.port);
  const text = async (...argv: string[]) => {
    const { code, stdout, stderr } = await run(argv, { env, columns: 200 });
    const lines = shown(stdout).split('\n').slice(0, -1);
    return { code, lines: lines.map((line) => line.trimEnd()), stderr: shown(stderr) };
  };
  const json = async (...argv: string[]) => {
    const { code, stdout, stderr } = await run([...argv, '--json'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return shown(stdout)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown);
  };
  return { answer, target, simulator, text, json, hook: `http://127.0.0.1:${target.port}/hook` };
}

const HEAD = 'rule  event  state  action  receiver  name';
const STARTED = 'rule-1  call:started  active  action-1  PORT/hook  A teammate starts a call';
const COMPLETED = 'rule-2  call:completed  active  action-2  PORT/hook  A teammate finishes a call';
const RECORDING =
  'rule-3  call:recording-available  active  action-3  PORT/hook  Call recording webhook';
const OWNER = '5f0200000000000000000001';
const ruleOf = (at: number, name: string, trigger: string, more: object = {}) => ({
  ...{ _id: `rule-${at}`, kind: 'rule', name, trigger, scope: 'workspace', ownerId: OWNER },
  ...{ state: 'active', ...more },
});
const actionOf = (at: number, path: string, more: object = {}) => ({
  ...{ _id: `action-${at}`, type: 'webhook', url: `http://127.0.0.1:PORT/${path}`, signed: true },
  ...more,
});
const CUSTOM = { payload: { id: '{{callId}}' } };

const GENERATED =
  '2 secrets were generated, and your receiver needs all of them. To see every secret: npx call-webhooks rules list --show-secret\n';

test('rules prints each rule with its action, what it changes, and how the recording webhook moved', async () => {
  const { simulator, text, json, hook } = await setup();
  const none = 'There are no rules. Create them: npx call-webhooks rules create --url URL\n';
  expect(await text('rules', 'list')).toEqual({ code: 0, lines: [], stderr: none });
  expect(await json('rules', 'list')).toEqual([]);
  expect(await text('rules', 'create', '--url', hook)).toEqual({
    ...{ code: 0, lines: [HEAD, STARTED, COMPLETED, RECORDING], stderr: GENERATED },
  });
  const other = ['rules', 'create', '--url', hook.replace('hook', 'other'), '--trigger'];
  expect(await text(...other, 'call:recording-available', '--unsigned')).toEqual({
    code: 0,
    lines: [HEAD, RECORDING.replace('hook', 'other unsigned')],
    stderr: 'There is only one recording webhook. Its URL was http://127.0.0.1:PORT/hook before.\n',
  });
  const payload = ['--payload', JSON.stringify(CUSTOM.payload), '--show-secret'];
  const fourth = ruleOf(4, 'A teammate starts a call', 'call:started', {
    actions: [actionOf(4, 'other', CUSTOM)],
  });
  const secretOf = (at: number, of: { name: string; trigger: string }, path = 'hook') => ({
    ...{ ruleId: `rule-${at}`, rule: of.name, trigger: of.trigger, actionId: `action-${at}` },
    ...{ url: `http://127.0.0.1:PORT/${path}`, secret: expect.stringMatching(/^whsec_.{32}$/) },
  });
  expect(await json(...other, 'call:started', ...payload)).toEqual([
    fourth,
    { ...secretOf(4, fourth, 'other'), secret: SECRET },
  ]);
  simulator.rules.create({ trigger: 'call:completed', scope: 'user', name: 'Own', actions: [] });
  expect((await text('rules', 'list')).lines).toEqual([
    ...[HEAD, STARTED, COMPLETED, RECORDING.replace('hook', 'other unsigned')],
    'rule-4  call:started  active  action-4  PORT/other  A teammate starts a call',
    `rule-5  call:completed  active  no action  Own (user ${OWNER})`,
  ]);
  const rules = [
    ruleOf(1, 'A teammate starts a call', 'call:started', { actions: [actionOf(1, 'hook')] }),
    ruleOf(2, 'A teammate finishes a call', 'call:completed', { actions: [actionOf(2, 'hook')] }),
    ruleOf(3, 'Call recording webhook', 'call:recording-available', {
      ...{ kind: 'recording-webhook', actions: [actionOf(3, 'other', { signed: false })] },
    }),
    fourth,
    ruleOf(5, 'Own', 'call:completed', { scope: 'user', actions: [] }),
  ] as const;
  expect(await json('rules', 'list')).toEqual(rules);
  expect(await json('rules', 'list', '--show-secret')).toEqual([
    { ...secretOf(1, rules[0]), secret: SECRET },
    secretOf(2, rules[1]),
    { ...secretOf(3, rules[2], 'other'), secret: null },
    { ...secretOf(4, fourth, 'other'), secret: SECRET },
  ]);
  // Of two actions that share a secret, scripts get it once.
  const { lines: secrets } = await text('rules', 'list', '--show-secret');
  expect(secrets).toEqual([SECRET, expect.stringMatching(/^whsec_.{32}$/)]);

  const [, { _id: second } = { _id: '' }] = simulator.rules.list();
  const begin = second.slice(0, 6);
  expect(await text('rules', 'pause', begin)).toEqual({
    ...{ code: 0, lines: [HEAD, COMPLETED.replace('active', 'paused: by hand')], stderr: '' },
  });
  expect(await json('rules', 'resume', begin)).toEqual([rules[1]]);
  expect(await json('rules', 'pause', begin)).toEqual([
    {
      ...rules[1],
      state: 'paused',
      pauseReason: 'by-hand',
      pausedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    },
  ]);
  const [removed] = await json('rules', 'remove', begin);
  expect(removed).toEqual({ ruleId: second, removed: true });
  const [, , { _id: last } = { _id: '' }] = simulator.rules.list();
  const { lines } = await text('rules', 'remove', last);
  expect(lines).toEqual([`removed  ${last}`]);
  expect(simulator.rules.list()).toHaveLength(3);
});

const ALL_OFF = {
  ...{ duplicate: 0, concurrentDuplicates: 0, reorder: 0, dropResponse: 0, slowBody: 0 },
  ...{ wrongSecret: 0, oldSecret: 0, clockSkew: 0, replay: 0, tamperedBody: 0 },
};
const chaosLines = (settings: object) =>
  Object.entries(settings).map(
    ([mode, value]) => `${mode}  ${value === 0 ? 'off' : String(value)}`,
  );

test('chaos prints the probability of every mode, and changes those that are named', async () => {
  const { text, json } = await setup();
  expect(await json('chaos')).toEqual([ALL_OFF]);
  const some = { ...ALL_OFF, duplicate: 0.2, replay: 0.5, clockSkew: 1 };
  const set = ['chaos', 'set', 'duplicate=0.2', 'replay=50%', 'clockSkew'];
  expect(await text(...set)).toEqual({ code: 0, lines: chaosLines(some), stderr: '' });
  expect(await json('chaos', 'show')).toEqual([some]);
  const all = Object.fromEntries(Object.keys(ALL_OFF).map((mode) => [mode, 0.1]));
  expect(await json('chaos', 'set', '--all', '0.1', 'replay=0')).toEqual([{ ...all, replay: 0 }]);
  expect(await text('chaos', 'off')).toEqual({ code: 0, lines: chaosLines(ALL_OFF), stderr: '' });
  expect(await text('chaos', 'set')).toMatchObject({
    code: 2,
    stderr: 'error: No mode is given.\nfix:  Example: npx call-webhooks chaos set duplicate=0.2\n',
  });
});

const line = (at: string, event: string, answer: string, rest: string) =>
  `03:${at}Z  ${event}  ${answer}  1 ms  ${rest}`;
const EXPLAINED_500 = [
  '  The response names no outcome, so this 500 comes from your own code, the framework or a proxy.',
  '  To fix it: npx call-webhooks explain 500',
];
const EXPLAINED_404 = [
  '  Receivers of these packages never send this status. It comes from a wrong path, another server, a proxy or the framework.',
  '  To fix it: npx call-webhooks explain 404',
];

test('trigger, clock and events print each attempt, and explain a failure until another one or a success', async () => {
  const { answer, simulator, text, json, hook } = await setup();
  const to = 'http://127.0.0.1:PORT/hook';
  const call = 'call:started  call-1';
  await run(['rules', 'create', '--url', hook, '--trigger', 'call:started'], {
    env: { CALL_WEBHOOKS_SIMULATOR: simulator.url },
  });
  const idle = { code: 0, stderr: '', lines: ['2026-01-02 03:04:05Z  manual  nothing is due'] };
  expect(await text('clock')).toEqual(idle);
  Object.assign(answer, { status: 500, body: 'oops' });
  expect(await text('trigger', 'call:started', '--wait')).toEqual({
    code: 1,
    lines: [line('04:05', call, '500', `retry in 5 min  ${to}`), ...EXPLAINED_500],
    stderr:
      '1 of 1 not acknowledged. Details: npx call-webhooks events show event-1\nThe clock stands still. To retry: npx call-webhooks clock advance 6m\n',
  });
  const now = Date.UTC(2026, 0, 2, 3, 4, 5);
  expect(await json('clock', 'show')).toEqual([
    { mode: 'manual', now, nextDueAt: now + 300_000, inFlight: 0 },
  ]);
  expect(await text('clock', 'advance', '6m')).toEqual({
    code: 0,
    lines: [
      ...[line('09:05', call, '500', `retry in 5 min  ${to}  (attempt 2)`), ...EXPLAINED_500],
      ...['1 attempt ended, not acknowledged.', '2026-01-02 03:10:05Z  manual  next in 4 min'],
    ],
    stderr: '',
  });
  Object.assign(answer, { status: 200, body: '{"outcome":"handled"}' });
  expect(await json('clock', 'next')).toEqual([
    {
      ...{ mode: 'manual', now: now + 600_000, nextDueAt: null, inFlight: 0 },
      attempts: { ended: 1, acknowledged: 1 },
    },
  ]);
  Object.assign(answer, { status: 404, body: '' });
  expect((await text('trigger', 'call:started', '--wait')).lines).toEqual([
    line('14:05', 'call:started  call-2', '404', `404: the rule is paused  ${to}`),
    ...EXPLAINED_404,
  ]);
  expect((await text('rules')).lines[1]).toBe(STARTED.replace('active', 'paused: 404'));
  const events = [
    'id  state  response  receiver  event  attempts  created  rule',
    'event-1  acknowledged  200 handled  PORT/hook  call:started  3  2026-01-02 03:04:05Z  A teammate starts a call',
    'event-2  failed  404  PORT/hook  call:started  1  2026-01-02 03:14:05Z  A teammate starts a call',
  ] as const;
  expect(await text('events')).toEqual({ code: 0, lines: events, stderr: '' });
  const [{ _id: first, callId, ruleId } = { _id: '', callId: '', ruleId: '' }] =
    simulator.events.list();
  const [head, one, two] = events;
  for (const [flags, found] of [
    [
      ['--state', 'failed'],
      [head, two],
    ],
    [['--state', 'waiting'], []],
    [['--event', 'call:completed'], []],
    [
      ['--call', callId.slice(0, 6)],
      [head, one],
    ],
    [
      ['--rule', ruleId.slice(0, 6)],
      [head, one, two],
    ],
    [['--rule', first], []],
  ] as const)
    expect((await text('events', 'list', ...flags)).lines).toEqual(found);
  expect(await text('events', 'list', '-n', '1')).toEqual({
    ...{ code: 0, lines: [head, two], stderr: 'These are the latest 1. For more: --limit 10\n' },
  });

  const shown = await text('events', 'show', first.slice(0, 6));
  expect(shown.lines.slice(0, 7)).toEqual([
    ...['call:started  acknowledged', 'event  event-1', 'call  call-1'],
    ...['rule  rule-1 A teammate starts a call', 'action  action-1', `receiver  ${to}`, '  {'],
  ]);
  const attempts = shown.lines.slice(shown.lines.findIndex((one) => one.startsWith('attempt 1')));
  const isOfRequest = (one: string) => /^ {2}[A-Z][\w-]+: \S+$/.test(one);
  expect(attempts.filter((one) => !isOfRequest(one))).toEqual([
    'attempt 1  2026-01-02 03:04:05Z  500  1 ms  retry in 5 min',
    ...[...EXPLAINED_500, `  → POST ${to}`, '  ← 500', '  oops', ''],
    'attempt 2  2026-01-02 03:09:05Z  500  1 ms  retry in 5 min',
    ...[...EXPLAINED_500, `  → POST ${to}`, '  ← 500', '  oops', ''],
    'attempt 3  2026-01-02 03:14:05Z  200 handled  1 ms  acknowledged',
    ...[`  → POST ${to}`, '  ← 200', '  {', '  "outcome": "handled"', '  }'],
  ]);
  expect(attempts.filter(isOfRequest).map((one) => one.trim().split(':')[0])).toEqual(
    [1, 2, 3].flatMap(() => [
      ...['User-Agent', 'Content-Type', 'Content-Length'],
      ...['X-Service-Webhook-Id', 'X-Service-Timestamp', 'X-Service-Signature'],
    ]),
  );
  const attempt = { chaos: [], startedAt: now, endedAt: now };
  expect((await json('events', 'list', '--state', 'acknowledged'))[0]).toMatchObject({
    ...{ _id: 'event-1', number: 1, ruleId: 'rule-1', actionId: 'action-1', callId: 'call-1' },
    ...{ eventName: 'call:started', createdAt: now, state: 'acknowledged', url: to },
    attempts: [{ ...attempt, number: 1, result: { next: 'retry', reason: 'status' } }, {}, {}],
  });

  Object.assign(answer, { status: 200, body: '{"outcome":"duplicate"}' });
  await run(['rules', 'resume', ruleId], { env: { CALL_WEBHOOKS_SIMULATOR: simulator.url } });
  expect(await text('resend', first)).toEqual({
    code: 0,
    lines: [line('14:05', call, '200 duplicate', `acknowledged  ${to}  (sent again)`)],
    stderr: '',
  });
  Object.assign(answer, { status: 500, body: '' });
  expect((await text('resend', first)).code).toBe(1);
});

test('a failure is explained again when it comes back after a success, and when it is another one', async () => {
  const { answer, simulator, text, hook } = await setup();
  const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url };
  await run(['rules', 'create', '--url', hook, '--trigger', 'call:started'], { env });
  Object.assign(answer, { status: 500, body: '' });
  for (let call = 0; call < 5; call++) {
    await run(['trigger', 'call:started', '--wait'], { env });
    await run(['clock', 'advance', '10s'], { env });
  }
  const statuses = [500, 500, 200, 500, 503];
  Object.defineProperty(answer, 'status', { get: () => statuses.shift() });
  const { lines } = await text('clock', 'advance', '6m');
  expect(lines.filter((one) => one.includes('explain'))).toEqual(
    [500, 500, 503].map((status) => `  To fix it: npx call-webhooks explain ${status}`),
  );
});
