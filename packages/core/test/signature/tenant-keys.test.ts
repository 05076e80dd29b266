import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { SecretProvider } from '../../src/index.ts';
import { deferred, Lines, OTHER_SECRET } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

beforeEach(() => void jest.useFakeTimers({ now: 1_760_000_000_000 }));
afterEach(() => void jest.useRealTimers());

/** An event without a key, so that each is handled. */
const EVENT = { eventName: 'call:completed' };
const isReal = (tenant: string) => tenant.startsWith('real-');
const real: SecretProvider = ({ tenant }) => (isReal(tenant) ? secretOf(tenant) : undefined);
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);

function tenants(provider: SecretProvider = real) {
  const asked = jest.fn<SecretProvider>(provider);
  return { asked, ...createTenantsReceiver({ secret: asked }) };
}

describe("a tenant's secret", () => {
  it('is asked for once, and cached for the tenant', async () => {
    const { asked, send } = tenants();
    for (const tenant of ['real-a', 'real-b', 'real-a', 'real-b'])
      expect(await send(tenant, EVENT, { webhookId: crypto.randomUUID() })).toBe('ignored');
    expect(asked.mock.calls.map(([{ tenant, refresh }]) => [tenant, refresh])).toEqual([
      ['real-a', false],
      ['real-b', false],
    ]);
  });

  it('is asked for once by deliveries that arrive together', async () => {
    const answer = deferred<string>();
    const { asked, send } = tenants(() => answer.promise);
    const all = [send('real-a', EVENT), send('real-a', EVENT), send('real-a', EVENT)];
    await jest.advanceTimersByTimeAsync(10);
    answer.resolve(secretOf('real-a'));
    expect(await Promise.all(all)).toEqual(['ignored', 'ignored', 'ignored']);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('may be rotated without a restart', async () => {
    const live = { secret: secretOf('real-a') };
    const { send } = tenants(() => live.secret);
    expect(await send('real-a', EVENT)).toBe('ignored');
    await jest.advanceTimersByTimeAsync(5_000);
    live.secret = OTHER_SECRET;
    expect(await send('real-a', EVENT, { secret: OTHER_SECRET })).toBe('ignored');
    expect(await send('real-a', EVENT)).toBe('signature-mismatch');
  });

  it('ends with its tenant, at the latest after five minutes', async () => {
    const { asked, send } = tenants();
    expect(await send('real-a', EVENT)).toBe('ignored');
    asked.mockImplementation(() => undefined);
    expect(await send('real-a', EVENT)).toBe('ignored');
    await jest.advanceTimersByTimeAsync(300_000);
    const outcome = send('real-a', EVENT, { timestamp: 1_760_000_000 });
    expect(await outcome).toBe('signature-mismatch');
  });

  it('stays in use while the provider is down, and a new tenant gets 503', async () => {
    const { asked, send, logger } = tenants();
    expect(await send('real-a', EVENT)).toBe('ignored');
    asked.mockImplementation(() => Promise.reject(new Error('down')));
    await jest.advanceTimersByTimeAsync(300_000);
    expect(await send('real-a', EVENT)).toBe('ignored');
    expect(logger.entries[0]).toMatchObject({ level: 'warn', fields: { tenant: 'real-a' } });
    expect(logger.all[0]).toContain('The cached secrets remain in use.');
    expect(await send('real-b', EVENT)).toBe('secret-unavailable');
    // What the answer tells is the same for a forgery.
    await jest.advanceTimersByTimeAsync(1_000);
    const forged = { secret: OTHER_SECRET };
    for (let i = 0; i < 2; i++) {
      expect(await send('real-a', EVENT, forged)).toBe('secret-unavailable');
      expect(await send('made-up', EVENT, forged)).toBe('secret-unavailable');
    }
    asked.mockImplementation(real);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await send('real-b', EVENT)).toBe('ignored');
  });

  it('that does not come within 4 s is unavailable', async () => {
    const { send } = tenants(() => new Promise<string>(() => undefined));
    const sent = send('real-a', EVENT);
    await jest.advanceTimersByTimeAsync(4_001);
    expect(await sent).toBe('secret-unavailable');
  });

  it('that is malformed is an error of this tenant alone', async () => {
    const { send } = tenants(({ tenant }) => (tenant === 'real-a' ? 'oops' : secretOf(tenant)));
    expect(await send('real-a', EVENT)).toBe('secret-unavailable');
    expect(await send('real-b', EVENT)).toBe('ignored');
  });
});

describe('a flood of made-up names', () => {
  it('causes a thousand lookups, and 50 more each second', async () => {
    const { asked, send } = tenants();
    const flood = async (prefix: string, count: number) => {
      const outcomes = await Promise.all(names(prefix, count).map((name) => send(name, EVENT)));
      expect(new Set(outcomes)).toEqual(new Set(['signature-mismatch']));
    };
    await flood('first', 3_000);
    expect(asked).toHaveBeenCalledTimes(1_000);
    await flood('second', 3_000);
    expect(asked).toHaveBeenCalledTimes(1_000);
    await jest.advanceTimersByTimeAsync(1_000);
    await flood('third', 3_000);
    expect(asked).toHaveBeenCalledTimes(1_050);
  });

  it('does not shut out tenants that are known, nor make them be asked for again', async () => {
    const { asked, send } = tenants();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('ignored');
    for (const name of names('made-up', 2_000)) await send(name, EVENT);
    asked.mockClear();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('ignored');
    expect(asked).not.toHaveBeenCalled();
  });

  it('lets new tenants in again when it is over', async () => {
    const { send, logger } = tenants();
    for (const name of names('made-up', 1_000)) await send(name, EVENT);
    await jest.advanceTimersByTimeAsync(10_000 - 1); // a line of this kind may be logged again
    for (const name of names('more', 600)) await send(name, EVENT);
    expect(await send('real-a', EVENT)).toBe('signature-mismatch');
    await jest.advanceTimersByTimeAsync(10_001);
    for (const name of names('most', 600)) await send(name, EVENT);
    await jest.advanceTimersByTimeAsync(10_001);
    expect(await send('real-a', EVENT)).toBe('ignored');
    expect(logger.entries.length).toBeGreaterThan(0);
  });

  it('makes known and unknown names indistinguishable for a forger', async () => {
    const { asked, send } = tenants();
    expect(await send('real-a', EVENT)).toBe('ignored');
    for (const name of names('made-up', 2_000)) await send(name, EVENT);
    await jest.advanceTimersByTimeAsync(0);
    asked.mockClear();
    const forged = { secret: OTHER_SECRET };
    expect(await send('real-a', EVENT, forged)).toBe('signature-mismatch');
    expect(await send('stranger', EVENT, forged)).toBe('signature-mismatch');
    expect(asked).not.toHaveBeenCalled();
  });

  it('of forgeries to real names is bounded as well', async () => {
    const { asked, send } = tenants();
    const forged = { secret: OTHER_SECRET };
    await Promise.all(names('real', 3_000).map((name) => send(name, EVENT, forged)));
    expect(asked).toHaveBeenCalledTimes(1_000);
  });

  it('asks for no more than a hundred at a time', async () => {
    let running = 0;
    let most = 0;
    const { send } = tenants(async ({ tenant }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      return secretOf(tenant);
    });
    const all = names('real', 2_000).map((name) => send(name, EVENT));
    // Signing takes real time, and the fake one must not run ahead of it.
    const isDone = Promise.all(all);
    const ended = jest.fn();
    void isDone.then(ended);
    while (ended.mock.calls.length === 0) {
      await new Promise((resolve) =>
        jest.requireActual<typeof import('node:timers')>('node:timers').setImmediate(resolve),
      );
      await jest.advanceTimersByTimeAsync(1);
    }
    expect(new Set(await isDone)).toEqual(new Set(['ignored']));
    expect(most).toBe(100);
  });
});

it('lines of the logger name no secret', async () => {
  const lines = new Lines();
  const { send } = createTenantsReceiver({
    secret: () => {
      throw new Error(`down, with ${OTHER_SECRET}`);
    },
    logger: lines,
  });
  await send('real-a', EVENT);
  expect(lines.all.join()).not.toContain(OTHER_SECRET.slice(8, 20));
});
