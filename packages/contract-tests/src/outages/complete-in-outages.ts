import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/store-tests/internal';
import { createReceiver, generateSecret, sign, type HandlerContext } from '@call-webhooks/core';
import {
  type OutagePool,
  type OutageServer,
  type OutageSubject,
  WITHIN_MS,
} from './server-outages.ts';

/** A transaction of a user that has begun. */
export interface OpenTransaction {
  /** What `completeIn` takes. */
  readonly tx: unknown;
  write(effect: string): Promise<unknown>;
  /** The client gives it up after 400 ms. */
  commit(): Promise<unknown>;
  /** Ends its connection at the server. */
  cut(): Promise<unknown>;
  /** Gives the connection back, or drops it if something failed. */
  end(hasFailed: boolean): void;
}

/** A store with `completeIn`, and the transactions of its users. */
export interface CompleteInOutageSubject<
  Server extends OutageServer,
  Pool extends OutagePool,
> extends OutageSubject<Server, Pool> {
  /** Creates the table of effects. */
  createEffects(pool: Pool): Promise<unknown>;
  /** How often an effect was committed. */
  committed(pool: Pool, effect: string): Promise<number>;
  /** A pool of a user, whose transactions these are. */
  openUserPool(url: string): Pool;
  /** Begins a transaction. @param admin another pool, to `cut` through */
  begin(pool: Pool, admin: Pool): Promise<OpenTransaction>;
}

/**
 * Registers what `completeIn` keeps of its promise when the server or the connection goes away, and returns
 * what further tests of this server need. Call it in a `describe`.
 */
export function completeInOutages<Server extends OutageServer, Pool extends OutagePool>(
  subject: CompleteInOutageSubject<Server, Pool>,
) {
  const { openPool } = subject;
  let server: Server;
  let [ofStore, ofUser]: Pool[] = [];
  let attempts: number[];
  /** What the handler does in its transaction, after `completeIn` and before COMMIT. */
  let beforeCommit: (transaction: OpenTransaction, context: HandlerContext) => unknown;
  let receivers: ReturnType<typeof createReceiver>[];
  const secret = generateSecret();

  beforeAll(async () => {
    server = await subject.start();
    const setup = openPool(server.url);
    await subject.openStore(setup).migrate();
    await subject.createEffects(setup);
    await setup.end();
  }, 30_000);
  afterAll(() => server.remove());

  beforeEach(() => {
    attempts = [];
    beforeCommit = () => undefined;
    const storePool = openPool(server.url);
    ofStore = storePool;
    ofUser = subject.openUserPool(server.url);
    receivers = [1, 2].map(() =>
      createReceiver({
        secret,
        store: subject.openStore(storePool),
        leaseFor: 600,
        logger: collectingLogger(),
        on: { 'call:completed': (event, context) => handle(String(event.callId), context) },
      }),
    );
  });
  afterEach(async () => {
    for (const receiver of receivers) await receiver.close({ graceMs: 0 });
    for (const pool of [ofStore, ofUser]) await pool!.end();
  });

  async function handle(callId: string, context: HandlerContext): Promise<void> {
    attempts.push(context.attempt);
    const transaction = await subject.begin(ofUser!, ofStore!);
    let hasFailed = true;
    try {
      await transaction.write(callId);
      await context.completeIn(transaction.tx);
      await beforeCommit(transaction, context);
      await transaction.commit();
      hasFailed = false;
    } finally {
      transaction.end(hasFailed);
    }
  }

  async function deliver(callId: string, receiver = 0): Promise<{ outcome: string; ms: number }> {
    const from = performance.now();
    const body = Buffer.from(callBody(callId));
    const headers = await sign({ secret, body });
    const { outcome } = await receivers[receiver]!.receive({ headers, body });
    return { outcome: outcome.outcome, ms: performance.now() - from };
  }

  const committed = (effect: string) => subject.committed(ofUser!, effect);

  /** As the service does, until it is acknowledged. */
  async function deliverUntilAcknowledged(callId: string): Promise<string[]> {
    const outcomes: string[] = [];
    while (!['handled', 'duplicate'].includes(outcomes.at(-1) ?? '')) {
      if (outcomes.length > 0) await delay(200);
      expect(outcomes.slice(29)).toEqual([]);
      const { outcome } = await deliver(callId);
      outcomes.push(outcome);
    }
    return outcomes;
  }

  it('the server freezes before COMMIT: 503, and the retry learns that it was committed', async () => {
    beforeCommit = () => server.freeze();
    const { outcome, ms } = await deliver('frozen');
    expect(outcome).toBe('store-unavailable');
    expect(ms).toBeLessThan(WITHIN_MS);
    server.thaw();
    beforeCommit = () => undefined;
    const outcomes = await deliverUntilAcknowledged('frozen');
    // COMMIT had reached the server or not: in either case the effect is there once.
    expect(outcomes.at(-1)).toBe(attempts.length === 1 ? 'duplicate' : 'handled');
    expect(await committed('frozen')).toBe(1);
  });

  it('the server is killed before COMMIT: 503, and the retry has the effect', async () => {
    beforeCommit = () => server.kill();
    expect((await deliver('killed')).outcome).toBe('store-unavailable');
    beforeCommit = () => undefined;
    await server.start();
    expect((await deliverUntilAcknowledged('killed')).at(-1)).toBe('handled');
    expect(await committed('killed')).toBe(1);
    expect(attempts).toEqual([1, 2]);
  });

  it('the connection is lost before COMMIT: the handler has failed, and the retry has the effect', async () => {
    beforeCommit = (transaction, { attempt }) => attempt === 1 && transaction.cut();
    expect((await deliver('cut')).outcome).toBe('handler-failed');
    expect((await deliver('cut')).outcome).toBe('handled');
    expect(await committed('cut')).toBe(1);
  });

  it('the transaction is open beyond the lease: nobody else runs the event, and no renewal harms', async () => {
    for (const commits of [true, false]) {
      const callId = `open ${String(commits)}`;
      attempts = [];
      let others: Promise<{ outcome: string; ms: number }>[] = [];
      let aborted: boolean | undefined;
      beforeCommit = async (_transaction, { signal, attempt }) => {
        if (attempt > 1) return;
        others = [deliver(callId, 1), deliver(callId, 0)];
        await delay(1_500); // two leases and a half
        aborted = signal.aborted;
        if (!commits) throw new Error('rolled back');
      };
      expect((await deliver(callId)).outcome).toBe(commits ? 'handled' : 'handler-failed');
      expect(aborted).toBe(false);
      for (const { outcome, ms } of await Promise.all(others)) {
        expect(outcome).toBe('store-unavailable'); // it waited for the lock for as long as it may
        expect(ms).toBeLessThan(WITHIN_MS);
      }
      const outcomes = await deliverUntilAcknowledged(callId);
      expect(outcomes.at(-1)).toBe(commits ? 'duplicate' : 'handled');
      expect(attempts[0]).toBe(1);
      expect(attempts).toHaveLength(commits ? 1 : 2);
      expect(await committed(callId)).toBe(1);
    }
  });

  return { deliver, committed, attempts: () => attempts };
}
