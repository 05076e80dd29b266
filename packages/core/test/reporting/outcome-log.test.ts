import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type ReceiverOptions, WebhookError } from '../../src/index.ts';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';
import {
  createTestReceiver,
  deferred,
  Lines,
  NOW,
  OTHER_SECRET,
  SECONDS,
  SECRET,
  STARTED,
} from '../support.ts';

const SECOND_MS = 1_000;

describe('the outcome log of a receiver', () => {
  useLateClock();
  const pass = (ms = SECOND_MS) => jest.advanceTimersByTimeAsync(ms);
  const started = (callId: string) => ({ ...STARTED, callId });

  function setup(
    options: Partial<ReceiverOptions<never, never>> = {},
    append?: Parameters<typeof loggedStore>[0],
  ) {
    const logged = loggedStore(append);
    const logger = new Lines();
    const on = { 'call:started': () => undefined };
    const made = createTestReceiver({ store: logged.store, on, logger, ...options });
    return { ...logged, ...made, logger };
  }

  it('has at most 50 failures and 50 other rows in a batch, and counts the rest', async () => {
    const on = {
      'call:started': ({ callId }: { callId: string }) => {
        if (callId.startsWith('bad')) throw new Error('no');
      },
    };
    const { send, batches } = setup({ on });
    for (let call = 0; call < 53; call++)
      for (const name of ['bad', 'good']) await send(started(`${name}-${String(call)}`));
    await pass();
    const [{ rows, failures, counts } = {}] = batches;
    expect([rows?.length, failures?.length]).toEqual([50, 50]);
    const minutes = Object.values(counts?.minutes ?? {});
    expect(minutes).toMatchObject([
      {
        'outcome/webhook/handled/call:started': 53,
        'outcome/webhook/handler-failed/call:started': 53,
        rowsDropped: 6,
      },
    ]);
  });

  it('counts outcomes by their source, and has a row of each', async () => {
    const deadLetter = () => undefined;
    const on = {
      'call:started': (event: { callId: string }) => {
        if (event.callId === 'bad') throw new Error('no');
      },
    };
    const { receiver, send, rows, counted, counts } = setup({
      ...{ on, deadLetter, maxAttempts: 1 },
      secret: [
        { id: 'old', secret: SECRET },
        { id: 'new', secret: OTHER_SECRET },
      ],
    });
    await send(started('c1'));
    await send(started('c1'));
    await send(started('c2'), { secret: OTHER_SECRET, timestamp: SECONDS - 2 });
    await send(started('bad'));
    await receiver.receive({ headers: {}, body: new Uint8Array() });
    await receiver.deliver(started('c3'), { source: 'reconcile' });
    await receiver.deliver(started('c4'));
    await pass();
    expect(await counted()).toEqual({
      'outcome/webhook/handled/call:started': 2,
      'outcome/webhook/duplicate/call:started': 1,
      'outcome/webhook/dead-lettered/call:started': 1,
      'outcome/webhook/missing-header/': 1,
      'outcome/reconcile/handled/call:started': 1,
      'outcome/redrive/handled/call:started': 1,
    });
    expect(await counts()).toMatchObject({
      ...{ 'secret/old': 3, 'secret/new': 1 },
      ...{ 'handlerMs/call:started/0': 5, 'lagMs/0': 3, 'lagMs/44': 1 },
    });
    const found = await rows();
    expect(found).toHaveLength(7);
    expect(found.find(({ callId }) => callId === 'c2')).toMatchObject({
      ...{ at: NOW, outcome: 'handled', source: 'webhook', eventName: 'call:started' },
      ...{ key: 'c2:call:started', attempt: 1, lagMs: 2_000, secretId: 'new' },
      webhookId: expect.any(String),
      durationMs: expect.any(Number),
    });
    expect(found.find(({ callId }) => callId === 'bad')).toMatchObject({
      ...{ outcome: 'dead-lettered', attemptsLeft: 0, error: 'The handler failed: Error: no' },
    });
  });

  it("has the times of the receiver's clock, while it is written by real ones", async () => {
    const clock = { now: NOW - 86_400_000 };
    const { send, batches, store } = setup({ now: () => clock.now });
    const at = clock.now + 90_000;
    clock.now = at;
    await send(started('c1'), { timestamp: Math.floor(at / 1_000) });
    await pass();
    expect(batches).toMatchObject([{ process: { startedAt: at - 90_000, at }, rows: [{ at }] }]);
    const minute = Math.floor(at / 60_000);
    expect([...(await store.log!.counts('minutes', minute, minute)).keys()]).toEqual([minute]);
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error('no clock');
      },
    ],
    ['tells no number', () => NaN],
  ])('has other times of a clock that %s', async (_how, now) => {
    const { receiver, batches } = setup({ now });
    await receiver.receive({ headers: {}, body: new Uint8Array() });
    await pass();
    expect(batches[0]!.rows.concat(batches[0]!.failures)).toMatchObject([{ at: NOW }]);
  });

  it('is written once a second, and never when nothing ended', async () => {
    const { send, batches, receiver } = setup();
    await pass(60_000);
    for (let second = 0; second < 3; second++) {
      await send(started(`a${String(second)}`));
      await pass(SECOND_MS / 2);
      await send(started(`b${String(second)}`));
      expect(batches).toHaveLength(second);
      await pass(SECOND_MS / 2);
      expect(batches).toHaveLength(second + 1);
    }
    await pass(60_000);
    expect(batches.map(({ rows }) => rows.length)).toEqual([2, 2, 2]);
    await receiver.close();
  });

  it('is written by one process, which says what it is', async () => {
    const { send, batches } = setup();
    for (const callId of ['c1', 'c2']) {
      await send(started(callId));
      await pass();
    }
    const [first, ...others] = batches.map(({ process }) => process);
    expect(first).toMatchObject({ pid: process.pid, startedAt: NOW, inFlight: 0 });
    expect(first!.host).not.toBe('');
    expect(others.map(({ id }) => id)).toEqual([first!.id]);
  });

  it('has no timer once it is written, until something ends', async () => {
    const { send } = setup();
    expect(jest.getTimerCount()).toBe(0);
    await send(started('c1'));
    expect(jest.getTimerCount()).toBeGreaterThan(0);
    await pass(60_000);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('says how many deliveries were being handled', async () => {
    const work = deferred();
    const on = {
      'call:started': ({ callId }: { callId: string }) => callId === 'c1' && work.promise,
    };
    const { send, batches } = setup({ on });
    const sent = send(started('c1'));
    await send(started('c2'));
    await pass();
    expect(batches[0]!.process.inFlight).toBe(1);
    work.resolve();
    await sent;
  });

  it('is not written with `log: false`, without a log, and to what only has its name', async () => {
    for (const options of [
      { log: false },
      { store: { ...memoryStore(), log: undefined } },
      { store: { ...memoryStore(), log: () => undefined } },
    ]) {
      const { send, batches, receiver, lines } = setup(options as never);
      expect(await send(started('c1'))).toBe('handled');
      await pass();
      await receiver.close();
      expect(batches).toEqual([]);
      expect(lines).toEqual([]);
    }
    expect(() => setup({ log: true } as never)).toThrow('log: expected false');
  });

  it('loses nothing when writes fail, and delays no delivery', async () => {
    let fails = 3;
    const { send, batches, counted, logger } = setup({}, async (batch, log) => {
      await log.append(batch); // it was taken, and the answer was lost
      if ((fails -= 1) >= 0) throw new Error('no answer from 10.0.0.1, password=hunter2secret');
    });
    for (let second = 0; second < 20; second++) {
      expect(await send(started(`c${String(second)}`))).toBe('handled');
      await pass();
    }
    await pass(30 * SECOND_MS);
    const ids = batches.map(({ id }) => id);
    expect(ids.slice(0, 4)).toEqual(Array(4).fill(ids[0]));
    expect(new Set(ids).size).toBe(ids.length - 3);
    expect(await counted()).toEqual({ 'outcome/webhook/handled/call:started': 20 });
    expect(logger.entries).toHaveLength(1); // of three within 10 s
    expect(logger.entries[0]).toMatchObject({ level: 'warn' });
    expect(logger.entries[0]!.message).toMatch(
      /^call-webhooks: the outcome log could not be written .* deliveries are not affected: Error: no answer from 10\.0\.0\.1/,
    );
    expect(logger.all.join()).not.toContain('hunter2');
  });

  it.each([
    [
      'throws at once',
      (): never => {
        throw new Error('broken');
      },
    ],
    ['never answers', () => new Promise<never>(() => undefined)],
  ])('may be one that %s', async (_how, append) => {
    const { send, batches, receiver, logger } = setup({ storeTimeout: 100 }, append);
    for (let second = 0; second < 60; second++) {
      expect(await send(started(`c${String(second)}`))).toBe('handled');
      await pass();
    }
    expect(batches.length).toBeLessThan(10);
    expect(new Set(batches.map(({ id }) => id)).size).toBe(1);
    expect(logger.entries.length).toBeLessThan(7);
    const closed = receiver.close();
    await pass(100);
    await closed;
  });

  it('keeps 50 failures of a second, 50 others, successes first, and exact counts', async () => {
    const on = {
      'call:started': ({ callId }: { callId: string }) => {
        if (callId.startsWith('bad')) throw new Error(`no ${callId}`);
      },
    };
    const { send, receiver, batches, counts, rows } = setup({ on });
    for (let n = 0; n < 60; n++) await receiver.receive({ headers: {}, body: new Uint8Array() });
    for (let n = 0; n < 30; n++) await send(started(`c${String(n)}`));
    for (let n = 0; n < 40; n++) await send(started(`bad${String(n)}`));
    await pass();
    expect(batches).toHaveLength(1);
    const found = (await rows()).map(({ outcome }) => outcome);
    expect(found.filter((outcome) => outcome === 'handler-failed')).toHaveLength(40);
    expect(found.filter((outcome) => outcome === 'handled')).toHaveLength(30);
    expect(found.filter((outcome) => outcome === 'missing-header')).toHaveLength(20);
    expect(batches[0]!.failures).toHaveLength(40);
    expect(await counts()).toMatchObject({
      ...{ 'outcome/webhook/missing-header/': 60, 'outcome/webhook/handled/call:started': 30 },
      ...{ 'outcome/webhook/handler-failed/call:started': 40, rowsDropped: 40 },
    });
  });

  it('keeps the counts of 50 hours when the store is down for longer, and writes them bit by bit', async () => {
    let isDown = true;
    const { send, batches, counts } = setup({ now: undefined }, async (batch, log) => {
      if (isDown) throw new Error('down');
      await log.append(batch);
    });
    const minutes = 51 * 60;
    for (let minute = 0; minute < minutes; minute++) {
      await send(started('c1'));
      jest.setSystemTime(NOW + minute * 60_000);
    }
    isDown = false;
    batches.length = 0;
    await pass(90 * SECOND_MS);
    for (const { counts: ofBatch } of batches)
      for (const periods of Object.values(ofBatch))
        expect(Object.keys(periods).length).toBeLessThanOrEqual(60);
    const sum = Object.entries(await counts())
      .filter(([name]) => name.startsWith('outcome/'))
      .reduce((total, [, count]) => total + count, 0);
    expect(sum).toBeGreaterThan(50 * 60 - 5);
    expect(sum).toBeLessThan(50 * 60 + 5);
  });

  it('is completed by close(), which says that the process was closed', async () => {
    const { send, batches, receiver, counted } = setup();
    await send(started('c1'));
    await receiver.close();
    await receiver.close();
    expect(batches.map(({ process }) => process.closed)).toEqual([true]);
    expect(await send(started('c2'))).toBe('shutting-down');
    await pass();
    expect(batches.map(({ process }) => process.closed)).toEqual([true, true]);
    expect(await counted()).toEqual({
      ...{ 'outcome/webhook/handled/call:started': 1, 'outcome/webhook/shutting-down/': 1 },
    });
  });

  it('has nothing of a process that did nothing, and the end of one that did', async () => {
    const idle = setup();
    await idle.receiver.close();
    expect(idle.batches).toEqual([]);
    const { send, batches, receiver } = setup();
    await send(started('c1'));
    await pass();
    await receiver.close();
    expect(batches.map(({ rows, process }) => [rows.length, process.closed])).toEqual([
      [1, undefined],
      [0, true],
    ]);
  });

  it('is written by close() once more after a write that failed', async () => {
    let fails = true;
    const { send, receiver, batches, counted } = setup({}, async (batch, log) => {
      if (fails) throw new Error('down');
      await log.append(batch);
    });
    await send(started('c1'));
    await pass();
    await send(started('c2'));
    fails = false;
    await receiver.close();
    const [first, again, last] = batches;
    expect({ ...again, process: first!.process }).toEqual(first);
    expect(last!.process.closed).toBe(true);
    expect(batches).toHaveLength(3);
    expect(await counted()).toEqual({ 'outcome/webhook/handled/call:started': 2 });
  });

  it('does not make close() wait for longer than it may take', async () => {
    const { send, receiver } = setup({ storeTimeout: 10_000 }, () => new Promise(() => undefined));
    await send(started('c1'));
    const startedAt = performance.now();
    const closed = receiver.close({ graceMs: 0 }).then(() => performance.now() - startedAt);
    await pass(5_000);
    expect(await closed).toBeLessThanOrEqual(SECOND_MS);
  });

  it('has no value of a body, no secret, and short texts on one line', async () => {
    const on = {
      'call:started': ({ fromPhoneNumber }: { fromPhoneNumber: unknown }) => {
        throw new Error(`no\nway ${JSON.stringify(fromPhoneNumber)} ${SECRET} ${'x'.repeat(500)}`);
      },
    };
    const secret = { id: `old\n\u2028${'k'.repeat(300)}`, secret: SECRET };
    const { send, counts, rows } = setup({ on, secret });
    await send({ ...started('ada@example.com'), fromPhoneNumber: { name: 'Ada Lovelace' } });
    await pass();
    const [row] = await rows();
    expect(row!.error).toHaveLength(200);
    expect(row!.error).toMatch(
      /^The handler failed: Error: no way \{"name":"\[redacted\]"\} \[redacted\] x+$/,
    );
    const everything = JSON.stringify([row, await counts()]);
    for (const value of ['Ada', 'Lovelace', 'ada@', SECRET, '\\n', '\u2028'])
      expect(everything).not.toContain(value);
    expect(row!.secretId).toHaveLength(200);
  });

  it('can be written whatever an error of the user does', async () => {
    const error = new WebhookError('secret-unavailable', 'x');
    Object.defineProperty(error, 'message', {
      get() {
        throw new Error('hostile');
      },
    });
    const secret = () => Promise.reject(error);
    const { send, counted } = setup({ secret });
    await send(started('c1')).catch(() => undefined);
    await pass();
    expect(Object.keys(await counted())).toHaveLength(1);
  });

  it('names the tenant of a row', async () => {
    const { store, rows } = loggedStore();
    const secret = ({ tenant }: { tenant?: string }) => secretOf(tenant ?? '');
    const { send } = createTenantsReceiver({ secret, store: store });
    await send('acme', STARTED);
    await pass();
    expect(await rows()).toMatchObject([
      { tenant: 'acme', key: 'tenant:acme:call-1:call:started', outcome: 'ignored' },
    ]);
  });

  it('is not written in the async context of a delivery', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { send } = setup({}, async () => void seen.push(context.getStore()));
    await context.run('a request', () => send(started('c1')));
    await pass();
    expect(seen).toEqual([undefined]);
  });
});
