import { describe, expect, it, jest } from '@jest/globals';
import {
  memoryStore,
  type DeadLetter,
  type HandlerContext,
  type WebhookError,
} from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';
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

  it('a handler that ignores the rollback has failed', async () => {
    const { send, outcomes } = transactionalReceiver(({ completeIn }, tx) => completeIn(tx));
    expect(await send(STARTED)).toBe('handler-failed');
    expect(outcomes[0]?.error?.message).toContain('the transaction of completeIn was rolled back');
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
    expect(errors[1]?.message).toContain('postgresStore or sqliteStore');
    for (const { message } of errors)
      expect(message).toMatch(/exactly-once\.html#your-own-database$/);
  });
});
