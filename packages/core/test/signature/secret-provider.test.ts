import { describe, expect, it, jest } from '@jest/globals';
import { generateSecret, type SecretProvider } from '../../src/index.ts';
import { providedKeys } from '../../src/signature/secret-provider.ts';
import { Deadlines } from '../../src/time.ts';
import { useLateClock } from '../late-clock.ts';
import { createTestReceiver, deferred, Lines, OTHER_SECRET, SECRET } from '../support.ts';

useLateClock();

/** Events without a key, so that each is handled. */
const EVENT = { eventName: 'call:completed' };

describe('a secret provider', () => {
  it('is called once, and its result cached', async () => {
    const provider = jest.fn<SecretProvider>(() => SECRET);
    const { send } = createTestReceiver({ secret: provider });
    for (let i = 0; i < 3; i++)
      expect(await send(EVENT, { webhookId: `id-${String(i)}` })).toBe('ignored');
    expect(provider.mock.calls).toEqual([[{ webhookId: 'id-0', refresh: false }]]);
  });

  it('is called once for concurrent first deliveries', async () => {
    const answer = deferred<string>();
    const provider = jest.fn<SecretProvider>(() => answer.promise);
    const { send } = createTestReceiver({ secret: provider });
    const all = [send(EVENT), send(EVENT), send(EVENT)];
    await jest.advanceTimersByTimeAsync(10);
    answer.resolve(SECRET);
    expect(await Promise.all(all)).toEqual(['ignored', 'ignored', 'ignored']);
    expect(provider).toHaveBeenCalledTimes(1);
  });

  it('picks up a rotation without a restart, with one call for all deliveries', async () => {
    const live = { secret: SECRET };
    const provider = jest.fn<SecretProvider>(() => Promise.resolve(live.secret));
    const { send } = createTestReceiver({ secret: provider });
    await send(EVENT);
    live.secret = OTHER_SECRET;
    const signing = { secret: OTHER_SECRET };
    const all = await Promise.all([1, 2, 3, 4].map(() => send(EVENT, signing)));
    expect(all).toEqual(['ignored', 'ignored', 'ignored', 'ignored']);
    expect(provider).toHaveBeenCalledTimes(2);
    expect(provider.mock.calls[1]?.[0].refresh).toBe(true);
    expect(await send(EVENT)).toBe('signature-mismatch');
  });

  it('that returned newer secrets to another delivery meanwhile: they are used, without a call', async () => {
    const live = { secret: SECRET };
    const provider = jest.fn<SecretProvider>(() => live.secret);
    const source = providedKeys(provider, new Deadlines(), {
      logger: new Lines(),
      redact: undefined,
    });
    const old = await source.current('one');
    live.secret = OTHER_SECRET;
    const newer = await source.refresh('other', old);
    expect(newer).not.toBe(old);
    expect(await source.refresh('one', old)).toBe(newer);
    expect(provider).toHaveBeenCalledTimes(2);
  });

  it('is called for forgeries at most once in 5 s', async () => {
    const provider = jest.fn<SecretProvider>(() => SECRET);
    const { send } = createTestReceiver({ secret: provider });
    await send(EVENT);
    const forged = { secret: generateSecret() };
    for (let i = 0; i < 10; i++) expect(await send(EVENT, forged)).toBe('signature-mismatch');
    expect(provider).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(4_999);
    await send(EVENT, forged);
    expect(provider).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(1);
    await send(EVENT, forged);
    expect(provider).toHaveBeenCalledTimes(3);
  });

  it('that failed once is called for forgeries no more often, once it works again', async () => {
    const provider = jest.fn<SecretProvider>(() => SECRET);
    provider.mockImplementationOnce(() => {
      throw new Error('down');
    });
    const { send } = createTestReceiver({ secret: provider });
    expect(await send(EVENT)).toBe('secret-unavailable');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await send(EVENT)).toBe('ignored');
    const forged = { secret: generateSecret() };
    for (let second = 0; second < 5; second++) {
      expect(await send(EVENT, forged)).toBe('signature-mismatch');
      await jest.advanceTimersByTimeAsync(999);
    }
    expect(provider).toHaveBeenCalledTimes(3);
  });

  it('is called once for a thousand concurrent forgeries, and never for unsigned requests', async () => {
    const provider = jest.fn<SecretProvider>(() => Promise.resolve(SECRET));
    const { send, receiver, lines } = createTestReceiver({ secret: provider });
    const unsigned = Array.from({ length: 1_000 }, () =>
      receiver.receive({ headers: {}, body: new Uint8Array() }),
    );
    for (const { status } of await Promise.all(unsigned)) expect(status).toBe(401);
    expect(provider).not.toHaveBeenCalled();

    const forged = { secret: OTHER_SECRET };
    const codes = await Promise.all(Array.from({ length: 1_000 }, () => send(EVENT, forged)));
    expect(new Set(codes)).toEqual(new Set(['signature-mismatch']));
    // The first question, and one refresh for all.
    expect(provider.mock.calls.map(([{ refresh }]) => refresh)).toEqual([false, true]);
    await Promise.all(Array.from({ length: 1_000 }, () => send(EVENT, forged)));
    expect(provider).toHaveBeenCalledTimes(2);
    expect(lines.length).toBeLessThanOrEqual(2); // one for each code
    expect(await send(EVENT)).toBe('ignored');
  });

  it('that fails is called once a second, however many deliveries arrive', async () => {
    const provider = jest.fn<SecretProvider>(() => Promise.reject(new Error('down')));
    const { send, lines } = createTestReceiver({ secret: provider });
    for (let round = 1; round <= 2; round++) {
      const codes = await Promise.all(
        Array.from({ length: 1_000 }, (_, i) =>
          send(EVENT, i % 2 === 0 ? {} : { secret: OTHER_SECRET }),
        ),
      );
      expect(new Set(codes)).toEqual(new Set(['secret-unavailable']));
      expect(provider).toHaveBeenCalledTimes(round);
      jest.advanceTimersByTime(1_000);
    }
    expect(lines).toHaveLength(1);
  });

  it.each<[string, SecretProvider]>([
    [
      'throws',
      () => {
        throw new Error(`down, with ${SECRET}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['gives no secret', () => 'nope'],
    ['gives none', () => []],
  ])('that %s means secret-unavailable, and is asked again', async (_how, failing) => {
    const provider = jest.fn(failing);
    const { send, lines } = createTestReceiver({ secret: provider });
    expect(await send(EVENT)).toBe('secret-unavailable');
    expect(lines.join()).not.toContain(SECRET.slice(8, 20));
    expect(await send(EVENT)).toBe('secret-unavailable');
    expect(provider).toHaveBeenCalledTimes(1); // a failed one is left alone for a second
    jest.advanceTimersByTime(1_000);
    provider.mockImplementation(() => SECRET);
    expect(await send(EVENT)).toBe('ignored');
  });

  it('that hangs fails after 4 s', async () => {
    const { send } = createTestReceiver({ secret: () => new Promise<string>(() => undefined) });
    const sent = send(EVENT);
    await jest.advanceTimersByTimeAsync(4_001);
    expect(await sent).toBe('secret-unavailable');
  });

  it('that fails at a refresh causes secret-unavailable only for signatures that do not match', async () => {
    const provider = jest.fn<SecretProvider>(() => SECRET);
    const { send } = createTestReceiver({ secret: provider });
    await send(EVENT);
    provider.mockImplementation(() => {
      throw new Error('down');
    });
    expect(await send(EVENT, { secret: OTHER_SECRET })).toBe('secret-unavailable');
    expect(await send(EVENT)).toBe('ignored');
  });

  it('is called again after five minutes, and its cached secrets survive its failure', async () => {
    const provider = jest.fn<SecretProvider>(() => SECRET);
    const lines = new Lines();
    const source = providedKeys(provider, new Deadlines(), { logger: lines, redact: undefined });
    const first = await source.current('a');
    await jest.advanceTimersByTimeAsync(299_999);
    expect(await source.current('b')).toBe(first);
    provider.mockImplementation(() => {
      throw new Error('down');
    });
    await jest.advanceTimersByTimeAsync(1);
    expect(await source.current('c')).toBe(first);
    expect(provider.mock.calls[1]?.[0]).toEqual({ webhookId: 'c', refresh: true });
    expect(lines.entries).toEqual([
      {
        level: 'warn',
        message:
          'call-webhooks: The secret provider failed: Error: down. The cached secrets remain in use.',
        fields: {
          err: expect.anything(),
          docs: expect.stringMatching(/outcomes\.html#secret-unavailable$/),
        },
      },
    ]);
    expect(lines.entries[0]!.fields).not.toHaveProperty('tenant');
    expect(await source.current('d')).toBe(first);
    expect(provider).toHaveBeenCalledTimes(2);

    provider.mockImplementation(() => [{ id: 'new', secret: OTHER_SECRET }]);
    await jest.advanceTimersByTimeAsync(300_000);
    expect((await source.current('e')).map((key) => key.id)).toEqual(['new']);
  });

  it('that names its secrets anew does not make the log forget when the others verified', async () => {
    let version = 0;
    const { send, lines } = createTestReceiver({
      secret: () => [
        { id: 'crm', secret: SECRET },
        { id: `recording-${String(version)}`, secret: OTHER_SECRET },
      ],
    });
    for (; version < 100; version++) {
      await send(EVENT);
      await send(EVENT, { secret: OTHER_SECRET });
      await jest.advanceTimersByTimeAsync(300_000);
    }
    expect(await send(EVENT, { secret: generateSecret() })).toBe('signature-mismatch');
    expect(lines.at(-1)).toContain(
      'Last verified delivery: crm 0 s ago, recording-100 none since the start.',
    );
  });

  it('that fails is reported with what it threw', async () => {
    const down = new Error('down.');
    const onError = jest.fn<(error: unknown, context: { source: string }) => void>();
    const { send } = createTestReceiver({ secret: () => Promise.reject(down), onError });
    await send(EVENT);
    expect(onError).toHaveBeenCalledWith(down, expect.objectContaining({ source: 'secret' }));
  });
});
