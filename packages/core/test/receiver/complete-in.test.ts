import { describe, expect, it, jest } from '@jest/globals';
import {
  type DeadLetter,
  type ErrorInfo,
  type HandlerContext,
  memoryStore,
  type Store,
  type WebhookError,
} from '../../src/index.ts';
import { createTestReceiver, deferred, STARTED } from '../support.ts';
import { thrownBy, transactionalReceiver, transactionalStore } from '../transactional-store.ts';

describe('context.completeIn', () => {
  it('replaces the commit of the receiver: the same number of round trips', async () => {
    const { send, calls, lines } = transactionalReceiver(async ({ completeIn }, tx) => {
      await completeIn(tx);
      await tx.commit();
    });
    expect(await send(STARTED)).toBe('handled');
    expect(lines).toEqual([]);
    expect(calls).toEqual(['admit', 'completeIn', 'admit']);
    expect(await send(STARTED)).toBe('duplicate');
  });

  it('can be called twice in a transaction, and again after a rollback', async () => {
    const { send } = transactionalReceiver(async ({ completeIn }, tx) => {
      await completeIn({ marks: [] });
      await completeIn(tx);
      await completeIn(tx);
      await tx.commit();
    });
    expect(await send(STARTED)).toBe('handled');
  });

  it('after a rollback the event is not done: the error of the handler, and a retry', async () => {
    const { send, attempts, outcomes } = transactionalReceiver(
      async ({ completeIn, attempt }, tx) => {
        await completeIn(tx);
        if (attempt === 1) throw new Error('a constraint was violated');
        await tx.commit();
      },
    );
    expect(await send(STARTED)).toBe('handler-failed');
    expect(outcomes[0]?.error?.message).toContain('a constraint was violated');
    expect(await send(STARTED)).toBe('handled');
    expect(attempts).toEqual([1, 2]);
  });

  it.each([
    ['handled', true],
    ['shutting-down', false],
  ])(
    'a deploy while it runs costs one attempt at most: %s where it was committed: %p',
    async (code, isCommitted) => {
      const entered = deferred();
      const goOn = deferred();
      const { send, receiver, store } = transactionalReceiver(async ({ completeIn }, tx) => {
        await completeIn(tx);
        entered.resolve();
        await goOn.promise;
        if (isCommitted) await tx.commit();
      });
      const sent = send(STARTED);
      await entered.promise;
      const closed = receiver.close({ graceMs: 1 });
      if (isCommitted) goOn.resolve();
      await closed;
      goOn.resolve();
      expect(await sent).toBe(code);
      const attempts: number[] = [];
      const next = createTestReceiver({
        store,
        on: {
          'call:started': (_event: unknown, { attempt }: HandlerContext) =>
            void attempts.push(attempt),
        },
      });
      expect(await next.send(STARTED)).toBe(isCommitted ? 'duplicate' : 'handled');
      expect(attempts).toEqual(isCommitted ? [] : [2]);
    },
  );

  it('a handler that ignores the rollback has failed', async () => {
    const { send, outcomes } = transactionalReceiver(({ completeIn }, tx) => completeIn(tx));
    expect(await send(STARTED)).toBe('handler-failed');
    expect(outcomes[0]?.error?.message).toContain(
      'the transaction of completeIn was not committed',
    );
    expect(await send(STARTED)).toBe('handler-failed'); // and not in-progress: it was released
  });

  it('a handler that fails after the commit is not run again, and its error is logged', async () => {
    const error = new Error('the mail server is down');
    const onError = jest.fn();
    const { send, attempts, lines } = transactionalReceiver(
      async ({ completeIn }, tx) => {
        await completeIn(tx);
        await tx.commit();
        throw error;
      },
      { onError },
    );
    expect(await send(STARTED)).toBe('handled');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('the mail server is down');
    const info = {
      code: 'handled',
      source: 'handler',
      lastAttempt: true,
      late: false,
      queued: false,
    };
    expect(onError.mock.calls).toEqual([[error, expect.objectContaining(info)]]);
    expect(await send(STARTED)).toBe('duplicate');
    expect(attempts).toEqual([1]);
  });

  it('goes to the dead letters if it was rolled back in the last attempt, not if it was committed', async () => {
    for (const commits of [false, true]) {
      const letters: DeadLetter[] = [];
      const { send } = transactionalReceiver(
        async ({ completeIn }, tx) => {
          await completeIn(tx);
          if (commits) await tx.commit();
          throw new Error('never');
        },
        { maxAttempts: 1, deadLetter: (letter) => void letters.push(letter) },
      );
      expect(await send(STARTED)).toBe(commits ? 'handled' : 'dead-lettered');
      expect(letters).toHaveLength(commits ? 0 : 1);
    }
  });

  it('says when there is no key, or no database in common', async () => {
    const errors: WebhookError[] = [];
    const handle = async ({ completeIn }: HandlerContext) => {
      errors.push(await thrownBy(() => completeIn({})));
    };
    const keyless = createTestReceiver({
      store: transactionalStore().store,
      on: { 'call:started': (_event: unknown, context: HandlerContext) => handle(context) },
    });
    expect(await keyless.send({ eventName: 'call:started' })).toBe('handler-failed');
    const inMemory = createTestReceiver({
      store: memoryStore(),
      on: { 'call:started': (_event: unknown, context: HandlerContext) => handle(context) },
    });
    expect(await inMemory.send(STARTED)).toBe('handler-failed');
    expect(errors.map(({ code }) => code)).toEqual(['handler-failed', 'invalid-options']);
    expect(errors[0]?.message).toContain('has no key');
    expect(errors[1]?.message).toContain('Use postgresStore, mysqlStore or sqliteStore');
    for (const { message } of errors)
      expect(message).toMatch(/exactly-once\.html#your-own-database$/);
  });
});

describe('context.completeIn in trouble', () => {
  it('throws when the lease was lost, which is 503 whatever the handler makes of it', async () => {
    for (const swallow of [false, true]) {
      let error: WebhookError | undefined;
      const { send, store } = transactionalReceiver(async ({ completeIn, key = '' }, tx) => {
        await store.release(key, heldToken);
        error = await thrownBy(() => completeIn(tx));
        if (!swallow) throw error;
      });
      let heldToken = '';
      const { admit } = store;
      store.admit = (claim) => {
        heldToken = claim.token;
        return admit(claim);
      };
      expect(await send(STARTED)).toBe('in-progress');
      expect(error?.code).toBe('in-progress');
      expect(error?.message).toContain('the lease was lost');
    }
  });

  it('while the store cannot be asked: 503, and the retry learns what was committed', async () => {
    for (const throws of [false, true]) {
      let down = false;
      const { send, store } = transactionalReceiver(async ({ completeIn }, tx) => {
        await completeIn(tx);
        await tx.commit();
        down = true;
        if (throws) throw new Error('connection lost during COMMIT');
      });
      const { admit } = store;
      store.admit = (claim) => (down ? Promise.reject(new Error('down')) : admit(claim));
      expect(await send(STARTED)).toBe('store-unavailable');
      down = false;
      expect(await send(STARTED)).toBe('duplicate');
    }
  });

  it('asks once more when its claim waited for the commit and saw what was before', async () => {
    let asked = 0;
    const { send, store } = transactionalReceiver(async ({ completeIn }, tx) => {
      await completeIn(tx);
      await tx.commit();
    });
    const { admit } = store;
    store.admit = (claim) =>
      ++asked === 2 ? Promise.resolve({ status: 'in-progress' }) : admit(claim);
    expect(await send(STARTED)).toBe('handled');
    expect(asked).toBe(3);
  });

  it('finds the event leased by somebody else: 503, and nothing is taken for rolled back', async () => {
    let asked = 0;
    const { send, store, lines } = transactionalReceiver(async ({ completeIn }, tx) => {
      await completeIn(tx);
      await tx.commit();
    });
    const { admit } = store;
    store.admit = (claim) =>
      ++asked > 1 ? Promise.resolve({ status: 'in-progress' }) : admit(claim);
    expect(await send(STARTED)).toBe('in-progress');
    expect(lines[0]).toContain('The lease was lost while the handler was running');
  });

  it('frees the event when completeIn did not find a lease that is held', async () => {
    const { send, store } = transactionalReceiver(({ completeIn }, tx) => completeIn(tx));
    store.completeIn = () => Promise.resolve(false);
    expect(await send(STARTED)).toBe('in-progress');
    delete store.completeIn;
    expect(await send(STARTED)).toBe('handler-failed'); // and not in-progress: it runs again
  });

  it('and failed after the commit and the deadline: onError learns that it was late', async () => {
    const errors: unknown[] = [];
    const work = deferred();
    const { send } = transactionalReceiver(
      async ({ completeIn }, tx) => {
        await completeIn(tx);
        await tx.commit();
        await work.promise;
      },
      { ackWithin: 1, onError: (error, { late }) => void errors.push([error, late]) },
    );
    expect(await send(STARTED)).toBe('deadline');
    const failure = new Error('too late');
    work.reject(failure);
    while (errors.length === 0) await new Promise(setImmediate);
    expect(errors).toEqual([[failure, true]]);
  });

  it('that lost its answer counts as unknown: the store is asked', async () => {
    const { send, store } = transactionalReceiver(async ({ completeIn }, tx) => {
      await completeIn(tx).catch(() => undefined);
      await tx.commit();
    });
    const completeIn = store.completeIn as NonNullable<Store['completeIn']>;
    store.completeIn = async (...args) => {
      await completeIn(...args);
      throw new Error('the answer was lost');
    };
    expect(await send(STARTED)).toBe('handled');
    expect(await send(STARTED)).toBe('duplicate');
  });

  it('that nobody awaits is not taken for done before it is committed', async () => {
    const go = deferred();
    let ended: Promise<unknown> | undefined;
    const { send, store } = transactionalReceiver(({ completeIn }, tx) => {
      ended = thrownBy(() => completeIn(tx).then(() => tx.commit()));
    });
    const completeIn = store.completeIn as NonNullable<Store['completeIn']>;
    store.completeIn = async (...args) => {
      await go.promise;
      return completeIn(...args);
    };
    expect(await send(STARTED)).toBe('handler-failed');
    go.resolve();
    expect(await ended).toMatchObject({ code: 'in-progress' }); // the lease was released
  });

  it('is refused after the handler has ended, and the log and onError tell of what is lost', async () => {
    const onError = jest.fn();
    let late: (() => Promise<void>) | undefined;
    const { send, lines } = transactionalReceiver(
      ({ completeIn }, tx) => {
        late = () => completeIn(tx);
      },
      { onError },
    );
    expect(await send(STARTED)).toBe('handled');
    expect(lines).toEqual([]);
    for (let calls = 0; calls < 2; calls++)
      expect(late).toThrow('Await the transaction in the handler');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^error .* called completeIn too late [^]*callId: 'call-1'/);
    expect(lines[0]).toContain("key: 'call-1:call:started'");
    const info = { code: 'handled', source: 'handler', callId: 'call-1', lastAttempt: true };
    expect(onError.mock.calls).toEqual([
      [expect.objectContaining({ name: 'WebhookError' }), expect.objectContaining(info)],
    ]);
  });

  it('that comes too late while the event is being marked as done is told of as well', async () => {
    let late: (() => Promise<void>) | undefined;
    const { send, store, lines } = transactionalReceiver(({ completeIn }, tx) => {
      late = () => completeIn(tx);
    });
    const { complete } = store;
    store.complete = (...args) => {
      expect(late).toThrow('Await the transaction in the handler');
      expect(lines).toEqual([]); // the event is not done yet
      return complete(...args);
    };
    expect(await send(STARTED)).toBe('handled');
    expect(lines).toEqual([expect.stringContaining('called completeIn too late')]);
  });

  it('that comes too late for an event that the dead letters took is no news', async () => {
    let late: (() => Promise<void>) | undefined;
    const { send, lines } = transactionalReceiver(
      ({ completeIn }, tx) => {
        late = () => completeIn(tx);
        throw new Error('no');
      },
      { maxAttempts: 1, deadLetter: () => undefined },
    );
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(late).toThrow('Await the transaction in the handler');
    expect(lines).toEqual([expect.stringContaining('200 dead-lettered')]);
  });

  it('that comes too late after a failure loses nothing: the event is retried', async () => {
    let late: (() => Promise<void>) | undefined;
    const { send, lines } = transactionalReceiver(({ completeIn }, tx) => {
      late = () => completeIn(tx);
      throw new Error('no');
    });
    expect(await send(STARTED)).toBe('handler-failed');
    expect(late).toThrow('Await the transaction in the handler');
    expect(lines).toHaveLength(1);
  });

  it('throws at once with a synchronous client, so that its transaction rolls back', async () => {
    const held = [true, false];
    const { send, store } = transactionalReceiver(({ completeIn }, tx) => {
      void completeIn(tx); // throws here
      return tx.commit();
    });
    const marked: unknown[] = [];
    store.completeIn = (_tx, key, token) => {
      const isHeld = held.shift() ?? false;
      if (isHeld) marked.push(store.complete(key, token));
      return isHeld;
    };
    expect(await send(STARTED)).toBe('handled');
    expect(await send({ ...STARTED, callId: 'call-2' })).toBe('in-progress');
    expect(marked).toHaveLength(1);
  });
});

/** A receiver whose handler fails for good, and whose commit does not work. */
function setup(complete: () => Promise<boolean>) {
  const told: [unknown, ErrorInfo][] = [];
  const test = createTestReceiver({
    store: { ...memoryStore(), complete },
    on: { 'call:started': () => Promise.reject(new Error('the CRM is down')) },
    deadLetter: () => undefined,
    maxAttempts: 1,
    onError: (error, info) => told.push([error, info]),
  });
  return { ...test, told };
}

it.each([
  ['store-unavailable', () => Promise.reject(new Error('refused'))],
  ['in-progress', () => Promise.resolve(false)],
])('onError is told what the handler threw, although the commit fails: %s', async (code, fail) => {
  const { send, told, outcomes } = setup(fail);
  expect(await send(STARTED)).toBe(code);
  expect(told.map(([error]) => (error as Error).message)).toContain('the CRM is down');
  expect(told.every(([, info]) => !info.lastAttempt)).toBe(true); // the service sends it again
  expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
});
