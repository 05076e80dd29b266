import { describe, expect, it } from '@jest/globals';
import { reconcile, type CallsClient, type ReconcileOptions } from '@call-webhooks/recovery';
import { call, clock, since } from '../support/call-lists.ts';
import { DAY, MINUTE } from '../support/world.ts';

type ListOptions = Parameters<CallsClient['calls']['list']>[0];

/** What the service is asked for, page by page. */
async function asked(options: Partial<ReconcileOptions> = {}) {
  const requests: ListOptions[] = [];
  const client: CallsClient = {
    baseUrl: 'https://service.example',
    calls: {
      list: async (given) => {
        requests.push(given);
        const next = given?.next === undefined ? 'two' : undefined;
        return { results: [call(15)], next, hasNext: next !== undefined, raw: {} };
      },
      recording: () => Promise.reject(new Error('not asked for')),
    },
  };
  await reconcile({
    ...{ client, since, clock, store: { rememberFor: DAY } },
    receiver: { deliver: async () => ({ outcome: 'duplicate' }) },
    ...options,
  });
  return requests;
}

describe('what a run asks the service for', () => {
  it('is every page, with nothing else unless it is told to', async () => {
    expect(await asked()).toEqual([{}, { next: 'two' }]);
  });

  it('is the size of a page, the own query, and the signal, with every page', async () => {
    const { signal } = new AbortController();
    const windows: unknown[] = [];
    const query: ReconcileOptions['query'] = (window) => {
      windows.push(window);
      return { from: window.since.toISOString() };
    };
    const shared = { limit: 77, query: { from: since.toISOString() }, signal };
    expect(await asked({ pageSize: 77, query, signal })).toEqual([
      shared,
      { ...shared, next: 'two' },
    ]);
    expect(windows).toEqual([{ since, until: new Date(clock.now() - 10 * MINUTE) }]);
  });

  it('ends with a page that has no cursor, or says that it is the last one', async () => {
    const list = (next: string | undefined, hasNext: boolean) => {
      let requests = 0;
      const client = {
        baseUrl: 'https://service.example',
        calls: {
          list: async () => {
            requests += 1;
            return { results: [call(15)], next, hasNext, raw: {} };
          },
          recording: () => Promise.reject(new Error('not asked for')),
        },
      } as CallsClient;
      return asked({ client }).then(() => requests);
    };
    expect(await list(undefined, true)).toBe(1);
    expect(await list('two', false)).toBe(1);
  });
});

describe('the options of a run', () => {
  it.each<[option: string, allowed: object[], refused: object[]]>([
    [
      'pageSize',
      [{ pageSize: 1 }, { pageSize: 100_000 }],
      [{ pageSize: 0 }, { pageSize: 100_001 }],
    ],
    [
      'concurrency',
      [{ concurrency: 1 }, { concurrency: 100 }],
      [{ concurrency: 0 }, { concurrency: 101 }],
    ],
    ['tenant', [{ tenant: 'x'.repeat(128) }], [{ tenant: '' }, { tenant: 'x'.repeat(129) }]],
    ['name', [{ name: 'x'.repeat(100) }], [{ name: '' }, { name: 'x'.repeat(101) }]],
  ])('%s has its limits', async (option, allowed, refused) => {
    for (const options of allowed) expect(await asked(options)).toHaveLength(2);
    for (const options of refused) {
      const run = asked(options);
      await expect(run).rejects.toMatchObject({ code: 'invalid-options' });
      await expect(run).rejects.toThrow(`reconcile: ${option}: expected`);
    }
  });

  it('name what is missing', async () => {
    await expect(asked({ store: undefined })).rejects.toThrow(
      'reconcile: the receiver has no store. Pass the store that your receivers share as the option store.',
    );
    await expect(asked({ store: {} })).rejects.toThrow(
      'reconcile: the store does not say how long it remembers events (rememberFor), so handled events could run again. Pass a store that has rememberFor.',
    );
    const receiver = { hasTenants: true, deliver: async () => ({ outcome: 'handled' as const }) };
    await expect(asked({ receiver })).rejects.toThrow(
      "reconcile: this receiver has tenants. Pass the tenant whose calls the client lists, such as { tenant: 'acme' }.",
    );
    await expect(asked({ dryRun: true })).rejects.toThrow(
      'reconcile: dryRun: the store has no peek(), which a dry run needs to look up events. Use another store, or leave out dryRun.',
    );
  });
});
