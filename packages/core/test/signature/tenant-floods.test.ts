import { describe, expect, it, jest } from '@jest/globals';
import type { SecretProvider } from '../../src/index.ts';
import { TenantKeys } from '../../src/signature/tenants.ts';
import { DeadlineScheduler } from '../../src/time.ts';
import { useLateClock } from '../late-clock.ts';
import { Lines, OTHER_SECRET } from '../support.ts';
import { secretOf } from '../tenants-support.ts';
import { EVENT, names, tenants } from './tenants.ts';

useLateClock();

describe('a flood of made-up names', () => {
  it('causes a thousand lookups, and 50 more each second', async () => {
    const { asked, flood } = tenants();
    const forgery = new Set(['signature-mismatch']);
    expect(await flood(names('first', 1_200))).toEqual(forgery);
    expect(asked).toHaveBeenCalledTimes(1_000);
    expect(await flood(names('second', 100))).toEqual(forgery);
    expect(asked).toHaveBeenCalledTimes(1_000);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await flood(names('third', 100))).toEqual(forgery);
    expect(asked).toHaveBeenCalledTimes(1_050);
  });

  it('does not shut out tenants that are known, nor make them be asked for again', async () => {
    const { asked, flood, send } = tenants();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('ignored');
    await flood(names('made-up', 1_200));
    asked.mockClear();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('ignored');
    expect(asked).not.toHaveBeenCalled();
  });

  it('cannot keep a secret in use that was revoked: known tenants are asked for anyway', async () => {
    const { asked, flood, send } = tenants();
    await send('real-a', EVENT);
    await jest.advanceTimersByTimeAsync(300_000);
    await flood(names('made-up', 1_000));
    asked.mockClear();
    await send('real-a', EVENT);
    expect(asked.mock.calls.map(([{ tenant, refresh }]) => [tenant, refresh])).toEqual([
      ['real-a', true],
    ]);
  });

  it('gains nothing from deliveries of a tenant whose secret is known', async () => {
    const { asked, flood, send } = tenants();
    await send('real-a', EVENT);
    await flood(names('made-up', 1_000));
    for (let i = 0; i < 10; i++) await send('real-a', EVENT);
    asked.mockClear();
    await flood(names('more', 10));
    expect(asked).not.toHaveBeenCalled();
  });

  it('lets new tenants in again when it is over', async () => {
    const { flood, send, logger } = tenants();
    await flood(names('made-up', 1_000));
    await jest.advanceTimersByTimeAsync(10_000 - 1); // a line of this kind may be logged again
    await flood(names('more', 600));
    expect(await send('real-a', EVENT)).toBe('signature-mismatch');
    await jest.advanceTimersByTimeAsync(10_001);
    await flood(names('most', 600));
    await jest.advanceTimersByTimeAsync(10_001);
    expect(await send('real-a', EVENT)).toBe('ignored');
    expect(logger.entries.length).toBeGreaterThan(0);
  });

  it('makes known and unknown names indistinguishable for a forger', async () => {
    const { asked, flood, send } = tenants();
    expect(await send('real-a', EVENT)).toBe('ignored');
    await flood(names('made-up', 1_200));
    await jest.advanceTimersByTimeAsync(0);
    asked.mockClear();
    const forged = { secret: OTHER_SECRET };
    expect(await send('real-a', EVENT, forged)).toBe('signature-mismatch');
    expect(await send('stranger', EVENT, forged)).toBe('signature-mismatch');
    expect(asked).not.toHaveBeenCalled();
  });

  it('of forgeries to real names is bounded as well', async () => {
    const { asked, flood } = tenants();
    await flood(names('real', 1_200));
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
    const all = names('real', 300).map((name) => send(name, EVENT));
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

it('a provider that hangs: no more than 20,000 lookups wait, and known secrets stay in use', async () => {
  const provider = jest.fn<SecretProvider>(() => secretOf('real-a'));
  const source = new TenantKeys(provider, new DeadlineScheduler(), new Lines());
  const known = source.of({ name: 'real-a' });
  const keys = await known.refresh('id', await known.keys('id'));
  await jest.advanceTimersByTimeAsync(300_000);
  provider.mockImplementation(() => new Promise<string>(() => undefined));
  for (const name of names('real', 20_100)) {
    const waiting = source.of({ name });
    void waiting.refresh('id', await waiting.keys('id')).catch(() => undefined);
  }
  expect(provider).toHaveBeenCalledTimes(101);
  const refused = source.of({ name: 'one-more' });
  expect(await refused.refresh('id', await refused.keys('id'))).toBeUndefined();
  expect(refused.mismatch).toContain('too many lookups');
  expect(await known.keys('id')).toBe(keys);
});
