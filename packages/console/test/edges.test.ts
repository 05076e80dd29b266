import { describe, expect, it, jest } from '@jest/globals';
import { memoryDeadLetters, type DeadLetter } from '@call-webhooks/core';
import { durationBucket } from '@call-webhooks/core/stores';
import type {
  CallTimeline,
  DeadLetterDetail,
  DeadLettersPage,
  DeliveriesPage,
  DeliveryDetail,
  FailureCauses,
  Overview,
  Times,
} from '../src/api-types.ts';
import type { ConsoleAction } from '../src/index.ts';
import { callBody, failing, NOW, open, withLetter, wrote } from './support.ts';

// What lists are ordered by, and what holds at the edge of a limit or of what is known.

const MINUTE = 60_000;
const letterOf = (callId: string, more: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ reason: 'handler-failed', eventName: 'call:completed', callId, attempt: 3 },
  ...{ webhookId: `w-${callId}`, key: `${callId}:call:completed`, source: 'webhook' },
  rawBody: new TextEncoder().encode(callBody(callId)),
  ...{ timestamp: new Date(NOW - 5_000), failedAt: new Date(NOW) },
  ...{ error: undefined, errorText: 'no contact' },
  ...more,
});
const withLetters = async (...letters: readonly DeadLetter[]) => {
  const deadLetters = memoryDeadLetters();
  for (const letter of letters) await deadLetters.put(letter);
  return { ...open({ deadLetters }), deadLetters };
};

describe('in the order of what matters first stand', () => {
  it('the times of events: the one whose handler is slow most often, and last those whose handler never ran', async () => {
    const { get, log } = open();
    const [fast, slow, slowest] = [10, 1_000, 9_000].map(durationBucket);
    const times = {
      // One of 20 is slowest, which is no 95th percentile; of the next one, most are fast.
      [`handlerMs/rarely/${String(slow)}`]: 19,
      [`handlerMs/rarely/${String(slowest)}`]: 1,
      [`handlerMs/often/${String(fast)}`]: 80,
      [`handlerMs/often/${String(slowest)}`]: 20,
      [`handlerMs/fast/${String(fast)}`]: 500,
      [`deliveryMs/only-delivered/${String(slowest)}`]: 7,
    };
    await wrote(log, [{ outcome: 'handled' }], { times });
    const { events } = await get<Times>('/api/times');
    expect(events.map(({ eventName, runs }) => [eventName, runs])).toEqual([
      ['often', 100],
      ['rarely', 20],
      ['fast', 500],
      ['only-delivered', 0],
    ]);
  });

  it('at most 30 events, the slowest of all', async () => {
    const { get, log } = open();
    const times = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `handlerMs/e${String(at)}/${String(100 + 2 * at)}`,
        1,
      ]),
    );
    await wrote(log, [{ outcome: 'handled' }], { times });
    const { events } = await get<Times>('/api/times');
    expect(events.map(({ eventName }) => eventName)).toEqual(
      Array.from({ length: 30 }, (_, at) => `e${String(39 - at)}`),
    );
  });

  it('the versions of the app, the newest first, each since its first process', async () => {
    const { get, log } = open();
    const started = [
      ...([
        ['b', '1.0', 50],
        ['c', '2.0', 20],
        ['a', '1.0', 90],
        ['d', '3.0', 70],
      ] as const),
    ];
    for (const [id, version, minutes] of started)
      await wrote(log, [{ outcome: 'handled' }], {
        id,
        version,
        startedAt: NOW - minutes * MINUTE,
      });
    const { log: logged } = await get<Overview>('/api/overview');
    expect(logged?.versions).toEqual([
      { version: '2.0', since: NOW - 20 * MINUTE, processes: 1 },
      { version: '3.0', since: NOW - 70 * MINUTE, processes: 1 },
      { version: '1.0', since: NOW - 90 * MINUTE, processes: 2 },
    ]);
  });

  it('the names that filters offer, by the alphabet', async () => {
    const { get, log } = open();
    const rows = [
      ...([
        ['p2', 'globex', 'lead:won', '10.0'],
        ['p1', 'acme', 'call:started', '9.1'],
      ] as const),
    ];
    for (const [id, tenant, eventName, version] of rows)
      await wrote(log, [{ outcome: 'handled', tenant, eventName }], { id, version });
    expect(await get<DeliveriesPage>('/api/deliveries')).toMatchObject({
      eventNames: ['call:started', 'lead:won'],
      tenants: ['acme', 'globex'],
      versions: ['10.0', '9.1'],
    });
    const letters = await withLetters(
      ...rows.map(([id, tenant, eventName]) => letterOf(id, { tenant, eventName })),
    );
    expect(await letters.get<DeadLettersPage>('/api/dead-letters')).toMatchObject({
      eventNames: ['call:started', 'lead:won'],
      tenants: ['acme', 'globex'],
    });
  });

  it('the causes of dead letters, the most frequent first', async () => {
    const { get } = await withLetters(
      ...['once', 'thrice', 'twice', 'thrice', 'twice', 'thrice'].map((errorText, at) =>
        letterOf(`c${String(at)}`, { errorText, failedAt: new Date(NOW - at) }),
      ),
    );
    const { causes } = await get<DeadLettersPage>('/api/dead-letters');
    expect(causes.map(({ text, count }) => [text, count])).toEqual([
      ['thrice', 3],
      ['twice', 2],
      ['once', 1],
    ]);
  });
});

describe('the names of events that a filter offers', () => {
  it('are none that look like personal data, by which no store could filter', async () => {
    const names = ['call:completed', 'ada@example.com', '+1 555 010 4477'];
    const { get } = await withLetters(
      ...names.map((eventName, at) => letterOf(`c${String(at)}`, { eventName })),
    );
    const { letters, eventNames } = await get<DeadLettersPage>('/api/dead-letters');
    expect([letters.length, eventNames]).toEqual([3, ['call:completed']]);
  });
});

describe('the body of a dead letter', () => {
  const LIMIT = 256 * 1024;
  it.each([
    [LIMIT - 1, false],
    [LIMIT, false],
    [LIMIT + 1, true],
  ])('of %d characters is cut: %p', async (length, truncated) => {
    const rawBody = new TextEncoder().encode('x'.repeat(length));
    const { post, deadLetters } = await withLetters(letterOf('c1', { rawBody }));
    const [letter] = (await deadLetters.list()).letters;
    const path = `/api/dead-letters/${letter?.id ?? ''}/reveal`;
    const { body } = await post<DeadLetterDetail>(path);
    expect({ ...body, text: body.text?.length }).toEqual({
      ...{ masked: false, truncated, bytes: length, text: Math.min(length, LIMIT) },
    });
  });
});

describe('the dead letter of a delivery', () => {
  const dead = async (options = {}) => {
    const opened = open({ receiving: { on: failing, maxAttempts: 1 }, ...options });
    await opened.deliver(callBody('c1'));
    const row = { webhookId: 'w1', key: 'c1:call:completed', callId: 'c1' };
    await wrote(opened.log, [{ outcome: 'dead-lettered', ...row }]);
    const detail = async () => {
      const known = await opened.get<DeliveryDetail>('/api/deliveries/w1');
      return [known.state, known.deadLetterId !== null, known.isLetterGone];
    };
    return { ...opened, detail };
  };

  it('is gone only if its store says so', async () => {
    const { detail, deadLetters } = await dead();
    expect(await detail()).toEqual(['dead-lettered', true, false]);
    const [letter] = (await deadLetters.list()).letters;
    await deadLetters.remove(letter?.id ?? '');
    expect(await detail()).toEqual(['dead-lettered', false, true]);
    deadLetters.get = () => Promise.reject(new Error('connect ECONNREFUSED'));
    expect(await detail()).toEqual(['dead-lettered', false, false]);
  });

  it('is not told as gone by a console that was given no store of dead letters', async () => {
    const { detail } = await dead({ deadLetters: undefined });
    expect(await detail()).toEqual(['dead-lettered', false, false]);
  });

  it('that has been handled since is not gone either', async () => {
    const { get, deliver, log } = open();
    await deliver(callBody('c1'));
    await wrote(log, [{ outcome: 'dead-lettered', webhookId: 'w1', key: 'c1:call:completed' }]);
    expect(await get('/api/deliveries/w1')).toMatchObject({
      state: 'handled',
      isLetterGone: false,
    });
  });
});

describe('at the edge of a time', () => {
  it.each([
    [9_999, 'active', 2],
    [10_000, 'quiet', 2],
    [300_000, 'quiet', 2],
    [300_001, 'lost', 0],
  ])('a process that wrote %d ms ago is %s', async (ago, state, inFlight) => {
    const { get, log, clock } = open();
    await wrote(log, [{ outcome: 'handled' }], { inFlight: 2 });
    clock.now = NOW + ago;
    const { log: logged } = await get<Overview>('/api/overview');
    expect(logged?.processes).toMatchObject([{ state, inFlight }]);
  });

  it.each([
    [24 * 60 * MINUTE - 1, ['blue', 'other']],
    [24 * 60 * MINUTE, ['blue']],
  ])('a secret that nobody has, used %d ms ago, is among these: %j', async (ago, ids) => {
    const { get, log } = open();
    const marks = { 'ack//call:completed/other': NOW - ago };
    await wrote(log, [{ outcome: 'handled', at: NOW - 30 * 60 * MINUTE }], { marks });
    const { log: logged } = await get<Overview>('/api/overview');
    expect(logged?.secrets.map(({ id }) => id)).toEqual(ids);
  });

  it('failures reach back to where they were asked for, if all were read', async () => {
    const { get, log } = open();
    await wrote(log, [{ outcome: 'handler-failed', error: 'no', at: NOW - MINUTE }]);
    const since = NOW - 5 * MINUTE;
    const found = async (query: string) => get<FailureCauses>(`/api/failures${query}`);
    expect(await found(`?since=${since}`)).toMatchObject({ failures: 1, searchedTo: since });
    expect(await found('')).toMatchObject({ failures: 1, searchedTo: NOW - 26 * 60 * MINUTE });
  });
});

describe('what is older than most', () => {
  it('is found by its cause, however long ago it failed', async () => {
    const { get, log } = open();
    const failed = { outcome: 'handler-failed', eventName: 'call:completed' } as const;
    const old = { ...failed, error: 'no line', webhookId: 'old', at: NOW - 40 * 60 * MINUTE };
    await wrote(log, [old]);
    await wrote(log, [{ ...failed, error: 'no desk', webhookId: 'new' }]);
    const { causes } = await get<FailureCauses>('/api/failures?since=0');
    const cause = causes.find(({ text }) => text.includes('no line'))?.id ?? '';
    const { deliveries } = await get<DeliveriesPage>(`/api/deliveries?cause=${cause}`);
    expect(deliveries.map(({ webhookId }) => webhookId)).toEqual(['old']);
  });

  it('stands first among the deliveries of an event of a call', async () => {
    const { get, log } = open();
    const of = { eventName: 'call:started', callId: 'c1', webhookId: 'w1' };
    for (const [outcome, ago] of [
      ['queued', 9],
      ['in-progress', 5],
      ['handled', 1],
    ] as const)
      await wrote(log, [{ ...of, outcome, at: NOW - ago * MINUTE }], { at: NOW - ago * MINUTE });
    const { events } = await get<CallTimeline>('/api/calls/c1');
    expect(events[0]?.deliveries.map(({ outcome }) => outcome)).toEqual([
      ...['queued', 'in-progress', 'handled'],
    ]);
  });
});

it.each(['/ops/webhooks', '/ops/webhooks/', '/ops/webhooks//'])(
  'a console is found below its path, as %s',
  async (path) => {
    const { ask } = open({ path });
    for (const below of ['', '/', '/api/session'])
      expect([below, (await ask(below)).status]).toEqual([below, 200]);
  },
);

describe('a search for a person', () => {
  it.each([
    ['Grace Hopper', 1],
    ['Nobody Atall', 0],
  ])('is told, whether it finds somebody or not: %s', async (about, found) => {
    const actions: ConsoleAction[] = [];
    const { post, logger } = await withLetter({ onAction: (action) => actions.push(action) });
    const { letters } = await post<{ letters: unknown[] }>('/api/dead-letters/search', { about });
    expect(letters).toHaveLength(found);
    expect(actions).toEqual([{ action: 'search', by: 'Ada' }]);
    expect(logger.lines.join()).toContain('Ada searched the dead letters for a person');
    expect(logger.lines.join()).not.toContain(about);
  });
});

describe('while nobody decides who may use the console', () => {
  it.each([
    ['a person who opens the page reads why, and where to sign in', '', 'text/html', 'text/html'],
    ['a script of the page is told in JSON', '/api/session', 'text/html', 'application/json'],
    ['a script that asks for the page is told in JSON', '', '*/*', 'application/json'],
  ])('%s', async (_what, path, accept, type) => {
    jest.useFakeTimers();
    try {
      const { ask } = open({ authorize: () => new Promise(() => undefined), signIn: '/login' });
      const asked = ask(path, { headers: { accept } });
      await jest.advanceTimersByTimeAsync(5_000);
      const response = await asked;
      const text = await response.text();
      expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([
        503,
        type,
      ]);
      expect(text).toContain('The access check timed out. Try again.');
      expect(text.includes('<a href="/login">Sign in</a>')).toBe(type === 'text/html');
    } finally {
      jest.useRealTimers();
    }
  });
});
