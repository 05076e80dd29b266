import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Store } from '../../src/index.ts';
import { createTestReceiver, deferred, STARTED } from '../support.ts';

const never = (): Promise<never> => new Promise(() => undefined);

describe('close()', () => {
  it('releases a lease that the store grants after the grace, without running the handler', async () => {
    const inner = memoryStore();
    const [asked, go] = [deferred(), deferred()];
    const admit: Store['admit'] = async (claim) => {
      asked.resolve();
      await go.promise;
      return inner.admit(claim);
    };
    const handle = jest.fn();
    const on = { 'call:started': handle };
    const { receiver, send, outcomes } = createTestReceiver({ store: { ...inner, admit }, on });
    const sent = send(STARTED);
    await asked.promise;
    await receiver.close({ graceMs: 0 });
    go.resolve();
    expect(await sent).toBe('shutting-down');
    expect(outcomes[0]?.status).toBe(503);
    expect(handle).not.toHaveBeenCalled();
    expect(await createTestReceiver({ store: inner, on }).send(STARTED)).toBe('handled');
  });

  it('claims nothing for a payload whose schema was still running at the end of the grace', async () => {
    const [asked, checked] = [deferred(), deferred<{ value: unknown }>()];
    const validate = () => {
      asked.resolve();
      return checked.promise;
    };
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const store = memoryStore();
    const admit = jest.fn(store.admit);
    const handle = jest.fn();
    const custom = { schema, handle } as never;
    const { receiver, send } = createTestReceiver({ store: { ...store, admit }, custom });
    const sent = send({ custom: 1 });
    await asked.promise;
    await receiver.close({ graceMs: 0 });
    checked.resolve({ value: {} });
    expect(await sent).toBe('shutting-down');
    expect(admit).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
  });

  it('waits for a handler that calls close() when it starts', async () => {
    const store = memoryStore();
    const [begun, done] = [deferred(), deferred()];
    let closed: Promise<void> | undefined;
    const first = createTestReceiver({
      store,
      on: {
        'call:started': async (_event: unknown, { signal }: { signal: AbortSignal }) => {
          closed = first.receiver.close({ graceMs: 10_000 });
          begun.resolve();
          await done.promise;
          signal.throwIfAborted();
        },
      },
    });
    const sent = first.send(STARTED);
    await begun.promise;
    const other = jest.fn();
    expect(await createTestReceiver({ store, on: { 'call:started': other } }).send(STARTED)).toBe(
      'in-progress',
    );
    done.resolve();
    expect(await sent).toBe('handled');
    await closed;
    expect(other).not.toHaveBeenCalled();
  });

  it('does not release a lease while its commit is under way', async () => {
    const store = memoryStore();
    const [committing, committed] = [deferred(), deferred()];
    const complete: Store['complete'] = async (key, token) => {
      committing.resolve();
      await committed.promise; // a release that is sent now would come first
      return store.complete(key, token);
    };
    const handle = jest.fn();
    const on = { 'call:started': handle };
    const { receiver, send } = createTestReceiver({ store: { ...store, complete }, on });
    const sent = send(STARTED);
    await committing.promise;
    const closed = receiver.close({ graceMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 5)); // past the grace
    committed.resolve();
    expect(await sent).toBe('handled');
    await closed;
    expect(await createTestReceiver({ store, on }).send(STARTED)).toBe('duplicate');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('ends even if the store hangs', async () => {
    const entered = deferred();
    const handle = () => {
      entered.resolve();
      return never();
    };
    const { receiver, send } = createTestReceiver({
      store: { ...memoryStore(), release: never },
      storeTimeout: 20,
      on: { 'call:started': handle },
    });
    void send(STARTED);
    await entered.promise;
    await expect(receiver.close({ graceMs: 0 })).resolves.toBeUndefined();
  });

  it('may be called again', async () => {
    const { receiver } = createTestReceiver();
    await Promise.all([receiver.close(), receiver.close()]);
    await expect(receiver.close()).resolves.toBeUndefined();
  });
});
