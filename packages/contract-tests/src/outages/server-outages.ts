import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { collectingLogger, callBody } from '@call-webhooks/store-tests/internal';
import { generateSecret, type Store } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { startSender } from '../sender.ts';
import { serveLocally } from '../serve-locally.ts';

/** A database server of a suite's own. */
export interface OutageServer {
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

/** A pool of connections. */
export interface OutagePool {
  end(): Promise<unknown>;
}

/** A store whose server is a process of its own. */
export interface OutageSubject<Server extends OutageServer, Pool extends OutagePool> {
  start(): Promise<Server>;
  /** A pool as the docs advise. */
  openPool(url: string): Pool;
  openStore(pool: Pool): Store & { migrate(): Promise<unknown>; close(): Promise<unknown> };
}

/** What a receiver answered, and how long it took. */
export interface Answer {
  outcome: string | undefined;
  ms: number;
}

/** A time limit of 2 s, and time for a slow machine; milliseconds. */
export const WITHIN_MS = 15_000;

/** A busy server may commit an event, and answer too late. */
const isDone = (outcome: string | undefined) => outcome === 'handled' || outcome === 'duplicate';

/**
 * Registers what every receiver shows while the server of its store is away, and returns what further tests of
 * this server need. Call it in a `describe`.
 * @param otherPools pools that users open otherwise, which must not hang on a frozen server either
 */
export function serverOutages<Server extends OutageServer, Pool extends OutagePool>(
  subject: OutageSubject<Server, Pool>,
  otherPools: Readonly<Record<string, (url: string) => Pool>> = {},
) {
  const { openPool } = subject;
  let server: Server;
  let pool: Pool;
  let runs: string[];
  let deliver: (callId: string) => Promise<Answer>;
  let stop: () => Promise<void>;

  /** The receiver of one test. */
  async function mount(through: Pool): Promise<void> {
    runs = [];
    pool = through;
    const secret = generateSecret();
    const store = subject.openStore(pool);
    const hook = createNodeHandler({
      secret,
      store,
      leaseFor: 700,
      logger: collectingLogger(),
      on: {
        'call:completed': ({ callId }, { attempt }) => {
          runs.push(`${callId ?? ''} ${String(attempt)}`);
        },
      },
    });
    const http = await serveLocally((request, response) => void hook(request, response));
    const sender = startSender(http.origin, secret);
    deliver = async (callId) => {
      const from = performance.now();
      const { outcome } = await sender.post(callBody(callId));
      return { outcome, ms: performance.now() - from };
    };
    stop = async () => {
      await hook.receiver.close();
      await http.close();
      await store.close();
      await pool.end();
    };
  }

  /** Each delivery is answered with 503 in time, and no handler runs. */
  async function expectAway(callIds: string[]): Promise<void> {
    const answers = await Promise.all(callIds.map((callId) => deliver(callId)));
    for (const { outcome, ms } of answers) {
      expect(outcome).toBe('store-unavailable');
      expect(ms).toBeLessThan(WITHIN_MS);
    }
    expect(runs.filter((run) => callIds.some((id) => run.startsWith(`${id} `)))).toEqual([]);
  }

  /** Delivers until it is accepted: a claim of the outage that was applied late has its lease. */
  async function expectBack(callIds: string[]): Promise<void> {
    const until = performance.now() + 30_000;
    for (const callId of callIds) {
      let outcome;
      while (!isDone((outcome = (await deliver(callId)).outcome))) {
        expect(['store-unavailable', 'in-progress']).toContain(outcome);
        expect(performance.now()).toBeLessThan(until);
        await delay(100);
      }
      expect((await deliver(callId)).outcome).toBe('duplicate');
      expect(runs.filter((run) => run.startsWith(`${callId} `))).not.toEqual([]);
    }
    expect(new Set(runs).size).toBe(runs.length); // no attempt ran twice
  }

  /**
   * Delivers to a full database until it refuses an event: what still fits on the pages that there are is handled.
   * @returns the calls that were handled
   */
  async function deliverUntilRefused(): Promise<string[]> {
    const handled: string[] = [];
    for (let number = 0; ; number++) {
      const callId = `disk-${String(number)}`;
      const { outcome, ms } = await deliver(callId);
      expect(ms).toBeLessThan(WITHIN_MS);
      if (outcome !== 'handled') return handled;
      handled.push(callId);
    }
  }

  beforeAll(async () => {
    server = await subject.start();
    const setup = openPool(server.url);
    await subject.openStore(setup).migrate();
    await setup.end();
  }, 30_000);
  afterAll(() => server.remove());
  beforeEach(() => mount(openPool(server.url)));
  afterEach(() => stop());

  it('returns 503 while the server is down at the start, and works once it is up', async () => {
    await server.kill();
    await expectAway(['start-1', 'start-2']);
    await server.start();
    await expectBack(['start-1', 'start-2']);
  });

  it('returns 503 when the server is killed, and works once it is back', async () => {
    expect((await deliver('kill-0')).outcome).toBe('handled');
    await server.kill();
    await expectAway(['kill-1', 'kill-2']);
    await server.start();
    await expectBack(['kill-1', 'kill-2']);
    expect((await deliver('kill-0')).outcome).toBe('duplicate');
  });

  it.each(Object.entries({ 'a pool as the docs advise': openPool, ...otherPools }))(
    'returns 503 while the server is frozen, and works when it goes on: %s',
    async (name, open) => {
      await stop();
      await mount(open(server.url));
      const named = (number: number) => `freeze ${name} ${String(number)}`;
      expect((await deliver(named(0))).outcome).toBe('handled');
      server.freeze();
      const away = Array.from({ length: 15 }, (_, index) => named(index + 1));
      await expectAway(away);
      server.thaw();
      await expectBack(away);
    },
  );

  return {
    server: () => server,
    /** The pool of the receiver. */
    pool: () => pool,
    deliver: (callId: string) => deliver(callId),
    /** Ends the receiver of the test, before `mount` starts another one. */
    stop: () => stop(),
    mount,
    expectAway,
    expectBack,
    deliverUntilRefused,
  };
}
