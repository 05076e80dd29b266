import { describe, expect, it } from '@jest/globals';
import { ApiError } from '@call-webhooks/client';
import { reconcile, type CallsClient, type ReconcileResult } from '@call-webhooks/recovery';
import { call, clock, listing, oldReceiver, since } from '../support/call-lists.ts';
import { fastClock } from '../support/fast-clock.ts';
import { HOUR, MINUTE, STARTED_AT } from '../support/world.ts';

// A run that ends early, wherever it does: the next one goes on with that page, and handles each event once.

const NOTHING = {
  ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
  ...{ failed: 0, ignored: 0, skipped: 0, stoppedEarly: false },
};
const PAGES = [[call(20), call(19)], [call(18), call(17)], [call(16), call(15)], [call(14)]];
const HANDLED = ['c20', 'c19', 'c18', 'c17', 'c16', 'c15', 'c14'];
const apiError = (status: number) => new ApiError({ method: 'GET', path: '/v1/calls', status });

/** A client that fails when it is asked for a page as many times as there are errors. */
function failing(client: CallsClient, page: string | undefined, errors: Error[]): CallsClient {
  const list: CallsClient['calls']['list'] = (options) => {
    const error = options?.next === page ? errors.shift() : undefined;
    return error ? Promise.reject(error) : client.calls.list(options);
  };
  return { ...client, calls: { ...client.calls, list } };
}

describe('a run that is aborted', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])('after %d of 7 calls goes on', async (count) => {
    const { receiver, handled } = oldReceiver();
    const { client, asked } = listing(PAGES);
    const stopping = new AbortController();
    const progress: ReconcileResult[] = [];
    const options = { client, receiver, since, clock, concurrency: 1 };
    const cut = reconcile({
      ...options,
      signal: stopping.signal,
      onProgress(result) {
        progress.push(result);
        if (result.seen === count) stopping.abort(new Error('a deploy'));
      },
    });
    await expect(cut).rejects.toThrow('a deploy');
    expect(progress).toEqual(
      HANDLED.slice(0, count).map((_, index) => {
        const soFar = index + 1;
        return { ...NOTHING, seen: soFar, missed: soFar, handled: soFar };
      }),
    );
    expect(handled).toEqual(HANDLED.slice(0, count));
    // The page in which it was cut off is read again.
    const done = Math.floor((count - 1) / 2);
    asked.length = 0;
    const again = count - 2 * done;
    expect(await reconcile(options)).toEqual({
      ...{ ...NOTHING, seen: 7, missed: 7 - again, handled: 7 - again, known: again },
    });
    expect(asked).toEqual([undefined, '1', '2', '3'].slice(done));
    expect(handled).toEqual(HANDLED);
    expect(await receiver.store.loadCursor?.('reconcile')).toBeUndefined();
  });

  describe('and had gone on with an earlier run', () => {
    /** An earlier run had done the first page of a window that ended before the two newest calls. */
    const cutAfter = async (count: number) => {
      const { receiver, handled } = oldReceiver();
      const result = { ...NOTHING, seen: 2, missed: 2, handled: 2 };
      const cursor = { since: +since, until: STARTED_AT + 21 * HOUR, next: '1', result };
      await receiver.store.saveCursor?.('reconcile', JSON.stringify(cursor));
      const { client, asked } = listing([[call(23), call(22)], ...PAGES]);
      const stopping = new AbortController();
      let seen = 0;
      const options = { client, receiver, since, clock, concurrency: 1 };
      const cut = reconcile({
        ...options,
        signal: stopping.signal,
        onProgress() {
          if ((seen += 1) === count) stopping.abort(new Error('a deploy'));
        },
      });
      await expect(cut).rejects.toThrow('a deploy');
      asked.length = 0;
      await reconcile(options);
      return { receiver, handled, asked };
    };

    it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])(
      'goes on after %d calls, with all that is newer',
      async (count) => {
        const { receiver, handled } = await cutAfter(count);
        expect([...handled].sort()).toEqual([...HANDLED, 'c22', 'c23'].sort());
        expect(await receiver.store.loadCursor?.('reconcile')).toBeUndefined();
      },
    );

    it.each([
      [10, '1'],
      [11, '1'],
      [12, '2'],
      [13, '2'],
    ])(
      'goes on after %d calls, when it looked at what is newer, with page %s of that',
      async (count, page) => {
        const { asked } = await cutAfter(count);
        expect(asked).toEqual(['1', '2', '3', '4'].slice(Number(page) - 1));
      },
    );
  });
});

describe('a service that fails', () => {
  const begin = async (saved: boolean) => {
    const made = oldReceiver();
    const cursor = { since: +since, until: clock.now() - 10 * MINUTE, next: '1', result: NOTHING };
    if (saved) await made.receiver.store.saveCursor?.('reconcile', JSON.stringify(cursor));
    return { ...made, ...listing(PAGES) };
  };

  it.each([400, 404, 410, 422])(
    'with %d at the page of an old cursor is asked for the first page, once',
    async (status) => {
      const { receiver, handled, client, asked } = await begin(true);
      const run = (errors: Error[]) =>
        reconcile({ client: failing(client, '1', errors), receiver, since, clock, concurrency: 1 });
      expect(await run([apiError(status)])).toMatchObject({ seen: 7, handled: 7 });
      expect(asked).toEqual([undefined, '1', '2', '3']);
      expect(handled).toEqual(HANDLED);
    },
  );

  it.each([401, 403, 429, 500, 503])(
    'with %d at the page of an old cursor fails the run, which keeps the cursor',
    async (status) => {
      const { receiver, handled, client, asked } = await begin(true);
      const error = apiError(status);
      const options = { receiver, since, clock, concurrency: 1 };
      const failed = reconcile({ ...options, client: failing(client, '1', [error]) });
      await expect(failed).rejects.toBe(error);
      expect([handled, asked]).toEqual([[], []]);
      expect(await reconcile({ ...options, client })).toMatchObject({ seen: 5, handled: 5 });
      expect(asked).toEqual(['1', '2', '3']);
    },
  );

  it.each(
    [undefined, '1', '2', '3'].flatMap((page, done) =>
      [400, 404, 410, 422, 500].map((status) => [status, done, page] as const),
    ),
  )('with %d after %d pages fails the run, which goes on there', async (status, done, page) => {
    const { receiver, handled, client, asked } = await begin(false);
    const error = apiError(status);
    const options = { receiver, since, clock, concurrency: 1 };
    const failed = reconcile({ ...options, client: failing(client, page, [error]) });
    await expect(failed).rejects.toBe(error);
    expect(handled).toEqual(HANDLED.slice(0, 2 * done));
    asked.length = 0;
    expect(await reconcile({ ...options, client })).toEqual({
      ...{ ...NOTHING, seen: 7, missed: 7, handled: 7 },
    });
    expect(asked).toEqual([undefined, '1', '2', '3'].slice(done));
    expect(handled).toEqual(HANDLED);
  });
});

describe('a receiver that can take nothing any more', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('after %d events is given the rest later', async (count) => {
    const { receiver, handled } = oldReceiver();
    const { client } = listing(PAGES);
    const { store } = receiver;
    let left = count;
    const deliver: typeof receiver.deliver = async (...given) =>
      left-- > 0 ? receiver.deliver(...given) : ({ outcome: 'secret-unavailable' } as never);
    const options = { client, since, concurrency: 1 };
    const failed = reconcile({
      ...{ ...options, receiver: { store, deliver }, clock: fastClock(clock.now()) },
    });
    await expect(failed).rejects.toMatchObject({ code: 'secret-unavailable' });
    expect(handled).toEqual(HANDLED.slice(0, count));
    const again = count % 2;
    expect(await reconcile({ ...options, receiver, clock })).toEqual({
      ...{ ...NOTHING, seen: 7, missed: 7 - again, handled: 7 - again, known: again },
    });
    expect(handled).toEqual(HANDLED);
  });
});

describe('two tenants', () => {
  it('that share a store go on where each of them was cut off', async () => {
    const { receiver } = oldReceiver();
    const { store } = receiver;
    const deliver = async () => ({ outcome: 'handled' as const });
    const run = async (tenant: string, stopAfter: number) => {
      const { client, asked } = listing(PAGES);
      const stopping = new AbortController();
      await reconcile({
        ...{ client, since, clock, concurrency: 1, tenant, receiver: { store, deliver } },
        signal: stopping.signal,
        onProgress: ({ seen }) => {
          if (seen === stopAfter) stopping.abort(new Error('a deploy'));
        },
      }).catch(() => undefined);
      return asked;
    };
    expect(await run('acme', 3)).toEqual([undefined, '1']);
    expect(await run('globex', 5)).toEqual([undefined, '1', '2']);
    expect(await run('acme', Infinity)).toEqual(['1', '2', '3']);
    expect(await run('globex', Infinity)).toEqual(['2', '3']);
  });
});
