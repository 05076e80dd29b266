import { describe, expect, it } from '@jest/globals';
import type { DeadLettersPage, Overview } from '../src/api-types.ts';
import { createConsole } from '../src/index.ts';
import { BASE, callBody, closeLater, OWN_PAGE, withLetter, wrote } from './support.ts';

// A console keeps some of what it has read, so that open pages do not read it all again. What it keeps must
// outlive neither its time nor a failure.

/** What is read from the log and the store. The console has its own clock for it. */
const OF_THE_LOG = [
  '/api/overview',
  '/api/overview?timeZone=Asia/Kathmandu',
  '/api/deliveries',
  '/api/failures',
  '/api/times',
  '/api/calls/c1',
];
const OF_DEAD_LETTERS = ['/api/dead-letters', '/api/dead-letters?event=call:completed'];

/** What takes part in an answer, and can fail. */
const READ = {
  health: ({ receiver }) => [receiver, 'health'],
  'read() of the log': ({ log }) => [log, 'read'],
  'counts() of the log': ({ log }) => [log, 'counts'],
  'marks() of the log': ({ log }) => [log, 'marks'],
  'processes() of the log': ({ log }) => [log, 'processes'],
  'peek() of the store': ({ store }) => [store, 'peek'],
  'list() of the dead letters': ({ deadLetters }) => [deadLetters, 'list'],
  'count() of the dead letters': ({ deadLetters }) => [deadLetters, 'count'],
  'get() of the dead letters': ({ deadLetters }) => [deadLetters, 'get'],
} satisfies Record<string, (opened: Ports) => [object, string]>;

type Ports = Pick<Awaited<ReturnType<typeof withLetter>>, 'store' | 'log' | 'deadLetters'> & {
  receiver: object;
};

/** An answer, without what two answers can't have in common. */
async function told(answer: Promise<Response>): Promise<[status: number, body: unknown]> {
  const response = await answer;
  const body: unknown = JSON.parse(await response.text(), (name, value: unknown) =>
    name === 'durationMs' ? undefined : value,
  );
  return [response.status, body];
}

/** A console, and what one that was just started would answer instead of it. */
async function openBoth() {
  const opened = await withLetter();
  const { deadLetters, clock, logger } = opened;
  const { deliver, store, hasTenants } = opened.receiver;
  const receiver = { health: () => opened.receiver.health(), deliver, store, hasTenants };
  const create = () =>
    createConsole({
      ...{ receiver, deadLetters, logger, path: '/ops/webhooks' },
      authorize: () => ({ name: 'Ada' }),
      clock: { now: () => clock.now, schedule: () => () => undefined },
    });
  const kept = create();
  closeLater(() => kept.close());
  const request = (path: string, init?: RequestInit) => new Request(`${BASE}${path}`, init);
  return {
    ...opened,
    receiver,
    answer: (path: string) => told(kept.fetch(request(path))),
    /** Makes a change, and waits until it has ended. */
    async change(path: string, body: object) {
      const sent = JSON.stringify({ waitMs: 20_000, ...body });
      const init = { method: 'POST', headers: OWN_PAGE, body: sent };
      expect((await kept.fetch(request(path, init))).status).toBe(200);
    },
    fresh: (path: string) => told(create().fetch(request(path))),
  };
}

describe.each([
  ['has been set back by an hour', -3_600_000],
  ['has been set back by a second', -1_000],
  ['is two minutes later', 120_000],
])('once the clock %s', (_when, ms) => {
  it.each([...OF_THE_LOG, ...OF_DEAD_LETTERS])('%s has nothing old in it', async (path) => {
    const { log, clock, deliver, answer, fresh } = await openBoth();
    await answer(path);
    clock.now += ms;
    const at = clock.now;
    const row = { outcome: 'handled', eventName: 'call:started', at, secretId: 'green' } as const;
    const marks = { 'ack//call:started/green': at };
    await wrote(log, [row], { id: 'p2', version: '2.0.0', at, marks });
    await deliver(callBody('c2'));
    expect(await answer(path)).toEqual(await fresh(path));
  });
});

describe.each([
  ['a redrive that failed', '/api/redrive', { all: true }],
  ['a removal', '/api/remove', { all: true }],
  ['an erasure', '/api/erase', { about: 'Grace Hopper' }],
])('after %s', (_what, change, body) => {
  it.each(OF_DEAD_LETTERS)('%s has the letters as they are now', async (path) => {
    const opened = await openBoth();
    /** Without the names that its filters offer, which are kept for longer. */
    const list = async (ask: typeof opened.answer) => {
      const [, { letters, causes, total, oldestAt }] = (await ask(path)) as [
        number,
        DeadLettersPage,
      ];
      return { letters, causes, total, oldestAt };
    };
    const before = await list(opened.answer);
    await opened.change(change, body);
    const after = await list(opened.answer);
    expect(after).toEqual(await list(opened.fresh));
    expect(after).not.toEqual(before);
  });
});

it('the status is kept for readers in 16 time zones, and then read anew', async () => {
  const { log, clock, answer, fresh } = await openBoth();
  const zones = Intl.supportedValuesOf('timeZone').slice(0, 16);
  const statusIn = async (ask: typeof answer, zone: string) => {
    const [, body] = await ask(`/api/overview?timeZone=${zone}`);
    return (body as Overview).status;
  };
  const before = await statusIn(answer, zones[0]!);
  const at = clock.now;
  const row = { outcome: 'handled', eventName: 'call:started', at, secretId: 'blue' } as const;
  await wrote(log, [row], { id: 'p2', at, marks: { 'ack//call:started/blue': at } });
  for (const zone of zones.slice(1)) await statusIn(answer, zone);
  expect(await statusIn(answer, zones[0]!)).toEqual(before);
  await statusIn(answer, 'Pacific/Auckland');
  const after = await statusIn(answer, zones[0]!);
  expect(after).toEqual(await statusIn(fresh, zones[0]!));
  expect(after).not.toEqual(before);
});

/** What a health and a status say is kept for so long, also that something is down; milliseconds. */
const TOLD_MS = 10_000;

const FAILURES = Object.keys(READ).flatMap((what) => [
  { what: what as keyof typeof READ, working: 0, call: 'each call' },
  { what: what as keyof typeof READ, working: 1, call: 'each call but the first' },
]);

describe.each(FAILURES)('after $call of $what has failed', ({ what, working }) => {
  it.each([...OF_THE_LOG, ...OF_DEAD_LETTERS])('%s is soon as it was before', async (path) => {
    const opened = await openBoth();
    const [port, method] = READ[what](opened) as [Record<string, () => unknown>, string];
    const works = port[method] as () => unknown;
    let calls = 0;
    port[method] = (...given) =>
      calls++ < working
        ? works.apply(port, given)
        : Promise.reject(new Error('connection refused'));
    await opened.answer(path);
    port[method] = works;
    // A health that rejects says nothing, and is asked again at once.
    if (what !== 'health') opened.clock.now += TOLD_MS;
    expect(await opened.answer(path)).toEqual(await opened.fresh(path));
  });
});
