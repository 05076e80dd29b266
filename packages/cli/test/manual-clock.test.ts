import { afterEach, describe, expect, test } from '@jest/globals';
import { type Simulator, startSimulator } from '@call-webhooks/simulator';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A receiver that responds with `state.status`, or hangs, and a simulator whose clock stands still. */
async function setup(options: Parameters<typeof startSimulator>[0] = {}) {
  const state = { status: 200, hangs: false };
  const target = await receiver(() => (state.hangs ? undefined : { status: state.status }));
  closing.push(() => target.close());
  const simulator: Simulator = await startSimulator({
    ...{ clock: 'manual', seed: 7, patience: 200, retryJitter: 0, ...options },
  });
  closing.push(() => simulator.close());
  simulator.rules.forwardTo(target.url, { secret: SECRET });
  const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url };
  const cli = (...argv: string[]) => run(argv, { env });
  return { state, target, simulator, cli };
}

test('trigger burst without --wait with a manual clock: all calls end, and are sent', async () => {
  const { target, cli, simulator } = await setup();
  const { code, stdout } = await cli('trigger', 'burst', '-n', '3');
  expect(code).toBe(0);
  expect(stdout.match(/triggered burst {2}call \S+/g)).toHaveLength(3);
  await simulator.events.settled();
  expect(simulator.calls.list().map(({ state }) => state)).toEqual(['ended', 'ended', 'ended']);
  expect(target.received).toHaveLength(9);
  expect(simulator.clock.nextDueAt()).toBeUndefined();
});

describe('trigger --wait with a manual clock ends', () => {
  test('for many calls at once', async () => {
    const { target, cli } = await setup();
    const { code, stdout } = await cli('trigger', 'burst', '--wait', '-n', '4');
    expect(code).toBe(0);
    expect(stdout.match(/acknowledged/g)).toHaveLength(12);
    expect(target.received).toHaveLength(12);
  });

  test('for many calls at once that fail until the last attempt, with --retries', async () => {
    const { state, cli, simulator } = await setup({ maxAttempts: 3 });
    state.status = 500;
    const { code, stderr } = await cli('trigger', 'burst', '-n', '2', '--wait', '--retries');
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(simulator.events.list().map(({ state: one }) => one)).not.toContain('waiting');
  });

  test('for events that a paused rule holds, with --retries', async () => {
    const { cli, simulator } = await setup({ whilePaused: 'hold' });
    for (const { _id } of simulator.rules.list()) simulator.rules.pause(_id);
    const { code, stdout } = await cli('trigger', 'call:started', '--wait', '--retries');
    expect(code).toBe(1);
    expect(stdout).toContain('held');
  });

  test('for a receiver that hangs: its time is over as soon as nothing else happens', async () => {
    const { state, cli } = await setup({ acknowledgeWithin: '30s', maxAttempts: 2 });
    state.hangs = true;
    const { code, stdout, stderr } = await cli('trigger', 'call:started', '--wait');
    expect(code).toBe(1);
    expect(stdout).toMatch(/timeout .*retry in 5 min/);
    expect(stderr).toContain(
      'The clock stands still. To retry: npx call-webhooks clock advance 6m',
    );
  });

  test('without a retry: time goes no further than the first responses', async () => {
    const { state, cli, target } = await setup();
    state.status = 500;
    expect((await cli('trigger', 'call:completed', '--wait')).code).toBe(1);
    const events = target.received.map(({ body }) => String(body));
    expect(events.filter((body) => body.includes('call:completed'))).toHaveLength(1);
  });
});

describe('trigger --wait with a real clock', () => {
  const quick = { clock: 'real', retryEvery: 600 } as const;

  test('waits for the whole call, and its recording', async () => {
    const { cli } = await setup(quick);
    const { code, stdout } = await cli('trigger', 'call', '--wait', '--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: { eventName: string; state: string } }).event);
    expect([code, events.map(({ eventName, state }) => `${eventName} ${state}`)]).toEqual([
      0,
      [
        ...['call:started acknowledged', 'call:completed acknowledged'],
        'call:recording-available acknowledged',
      ],
    ]);
  });

  test('gives up after --timeout, with what to do', async () => {
    const { state, cli } = await setup(quick);
    state.hangs = true;
    const { code, stdout, stderr } = await cli('trigger', 'call:started', '-w', '--timeout', '1s');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replace(/\s+/g, ' ')).toBe(
      'error: Not every event got a response within 1 s. fix: See the pending events: npx call-webhooks events list. To wait longer: --timeout 5m ',
    );
  });

  test('waits for the retries as long as they take with --retries, whatever --timeout says', async () => {
    const { state, cli, target } = await setup(quick);
    state.status = 500;
    const retries = ['--retries', '--timeout', '100ms'];
    const waiting = cli('trigger', 'call:started', '--wait', ...retries);
    while (target.received.length === 0) await new Promise(setImmediate);
    state.status = 200;
    const { code, stdout } = await waiting;
    expect(code).toBe(0);
    expect(stdout).toMatch(/200 .*acknowledged .*\(attempt 2\)/);
    expect(target.received).toHaveLength(2);
  });
});

test.each([
  [[], 1],
  [['duplicate=1'], 2],
  [['duplicate=1', 'reorder=1'], 2],
])(
  'trigger --wait with a manual clock and %j tells of each of %d copies',
  async (modes, copies) => {
    const { cli, target, simulator } = await setup();
    for (const mode of modes) await cli('chaos', 'set', mode);
    const { code, stdout } = await cli('trigger', 'call:started', '--wait');
    expect([code, stdout.match(/acknowledged/g)?.length]).toEqual([0, copies]);
    expect(target.received).toHaveLength(copies);
    expect(simulator.clock.nextDueAt()).toBeUndefined();
  },
);

test('resend with a manual clock ends, although chaos delays the copy or the receiver hangs', async () => {
  const { state, cli, simulator } = await setup();
  await cli('trigger', 'call:started', '--wait');
  const { _id } = simulator.events.list()[0]!;
  await cli('chaos', 'set', 'reorder=1');
  expect(await cli('resend', _id)).toMatchObject({ code: 0 });
  await cli('chaos', 'off');
  state.hangs = true;
  const late = await cli('resend', _id);
  expect(late).toMatchObject({ code: 1 });
  expect(late.stdout).toContain('timeout');
});

describe('clock advance tells what ran', () => {
  test('each retry, how many were acknowledged, and what is due next', async () => {
    const { state, cli } = await setup({ maxAttempts: 2 });
    state.status = 500;
    await cli('trigger', 'call', '--wait');
    state.status = 200;
    const { stdout } = await cli('clock', 'advance', '6m');
    expect(stdout.match(/attempt 2/g)).toHaveLength(3);
    expect(stdout).toContain('3 attempts ended, 3 acknowledged.');
    expect(stdout).toMatch(/manual {2}nothing more is due$/m);
    expect((await cli('clock', 'advance', '6m')).stdout).toContain('0 attempts ended');
  });

  test('also one that fails again, with next and run, and as JSON', async () => {
    const { state, cli } = await setup({ maxAttempts: 3 });
    state.status = 500;
    await cli('trigger', 'call:started', '--wait');
    const next = await cli('clock', 'next');
    expect(next.stdout).toMatch(/500 .*\(attempt 2\)/);
    expect(next.stdout).toMatch(/1 attempt ended, not acknowledged.[^]*next in 5 min/);
    const [last] = (await cli('clock', 'run', '--json')).records();
    expect(last).toMatchObject({ nextDueAt: null, attempts: { ended: 1, acknowledged: 0 } });
  });
});

test.each([
  ['calls'],
  ['activity'],
  ['recording', 'some-call'],
  ['rotate', 'rule', 'action', '--show-secret'],
  ['reconcile', '--since', '1h', '--to', '3000/hook', '--secret', SECRET],
  ['clock'],
  ['chaos'],
  ['rules'],
  ['events'],
  ['resend', '1f2e'],
  ['trigger', 'call'],
])('%s without a simulator is exit code 3', async (...argv) => {
  const { code, stderr } = await run(argv);
  expect(code).toBe(3);
  expect(stderr).toContain('No simulator is running');
});
