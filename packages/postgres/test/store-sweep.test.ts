import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { postgresStore } from '../src/index.ts';
import { statements } from '../src/statements.ts';
import { recordingClient } from './recording-client.ts';

afterEach(() => void jest.restoreAllMocks());

const SQL = statements('call_webhooks');
const claim = () => ({
  ...{ webhookId: 'webhook-1', replayUntil: Date.now() + 600_000, key: 'event-1' },
  ...{ leaseMs: 60_000, token: 'token-1' },
});

describe('old rows', () => {
  it('are removed up to a thousand of each table', async () => {
    const { client, calls } = recordingClient(() => [{ removed: 7 }]);
    expect(await postgresStore(client).sweep()).toBe(7);
    expect(calls).toEqual([{ text: SQL.sweep, values: [1_000] }]);
    expect(await postgresStore(recordingClient().client).sweep()).toBe(0);
  });

  it('are not taken for removed if the client gives other rows', async () => {
    const { client } = recordingClient(() => [{ count: 7 }]);
    await expect(postgresStore(client).sweep()).rejects.toThrow('The Postgres client gave no rows');
  });

  it('are removed after a claim that Postgres answered, and close() waits for that', async () => {
    const swept = deferred<unknown[]>();
    let isDown = true;
    const { client, calls } = recordingClient((text) => {
      if (isDown) throw new Error('down');
      return text === SQL.sweep ? [{ removed: 0 }] : [{ status: 'duplicate', attempt: 1 }];
    });
    const query: typeof client.query = async (text, values) => {
      const reply = await client.query(text, values);
      if (text === SQL.sweep) await swept.promise;
      return reply;
    };
    const store = postgresStore({ query });
    await expect(store.admit(claim())).rejects.toThrow('down');
    expect(calls.map(({ text }) => text)).toEqual([SQL.admit]);
    isDown = false;
    await store.admit(claim());
    expect(calls.map(({ text }) => text)).toEqual([SQL.admit, SQL.admit, SQL.sweep]);
    let isClosed = false;
    const closed = store.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    swept.resolve([]);
    await closed;
  });

  it.each([true, false])('that stay are a warning, of the logger: %p', async (hasLogger) => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const logger = collectingLogger();
    const { client } = recordingClient((text) => {
      if (text === SQL.sweep) throw new Error('permission denied');
      return [{ status: 'duplicate', attempt: 1 }];
    });
    const store = postgresStore(client, hasLogger ? { logger } : {});
    await store.admit(claim());
    await store.close();
    const lines = hasLogger ? logger.entries.map(({ message }) => message) : warn.mock.calls.flat();
    expect(lines).toEqual([expect.stringContaining('permission denied')]);
    expect(warn).toHaveBeenCalledTimes(hasLogger ? 0 : 1);
  });
});
