import { describe, expect, it, jest } from '@jest/globals';
import { useLateClock } from '../late-clock.ts';
import { deferred, Lines, OTHER_SECRET } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';
import { EVENT, names, real, tenants } from './tenants.ts';

useLateClock();

describe("a tenant's secret", () => {
  it('is asked for once, and cached for the tenant', async () => {
    const { asked, send } = tenants();
    for (const tenant of ['real-a', 'real-b', 'real-a', 'real-b'])
      expect(await send(tenant, EVENT, { webhookId: crypto.randomUUID() })).toBe('handled');
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
    expect(await Promise.all(all)).toEqual(['handled', 'handled', 'handled']);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('may be rotated without a restart', async () => {
    const live = { secret: secretOf('real-a') };
    const { send } = tenants(() => live.secret);
    expect(await send('real-a', EVENT)).toBe('handled');
    await jest.advanceTimersByTimeAsync(5_000);
    live.secret = OTHER_SECRET;
    expect(await send('real-a', EVENT, { secret: OTHER_SECRET })).toBe('handled');
    expect(await send('real-a', EVENT)).toBe('signature-mismatch');
  });

  it('ends with its tenant, at the latest after five minutes', async () => {
    const { asked, send } = tenants();
    expect(await send('real-a', EVENT)).toBe('handled');
    asked.mockImplementation(() => undefined);
    expect(await send('real-a', EVENT)).toBe('handled');
    await jest.advanceTimersByTimeAsync(300_000);
    const outcome = send('real-a', EVENT, { timestamp: 1_760_000_000 });
    expect(await outcome).toBe('signature-mismatch');
  });

  it('nothing is logged of a name without secrets while the provider is down', async () => {
    const { asked, send, logger } = tenants();
    expect(await send('ada@example.com', EVENT)).toBe('signature-mismatch');
    const known = logger.all.length;
    asked.mockImplementation(() => Promise.reject(new Error('down')));
    await jest.advanceTimersByTimeAsync(300_000);
    await send('ada@example.com', EVENT, { timestamp: 1_760_000_300 });
    expect(logger.all.slice(known).join()).not.toMatch(/ada|remain in use/);
  });

  it('stays in use while the provider is down, and a new tenant gets 503', async () => {
    const { asked, send, logger } = tenants();
    expect(await send('real-a', EVENT)).toBe('handled');
    asked.mockImplementation(() => Promise.reject(new Error('down')));
    await jest.advanceTimersByTimeAsync(300_000);
    expect(await send('real-a', EVENT)).toBe('handled');
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
    expect(await send('real-b', EVENT)).toBe('handled');
  });

  it('that does not come within 4 s is unavailable', async () => {
    const { send } = tenants(() => new Promise<string>(() => undefined));
    const sent = send('real-a', EVENT);
    await jest.advanceTimersByTimeAsync(4_001);
    expect(await sent).toBe('secret-unavailable');
  });

  it('may be a list, as during a rotation; an empty one means that there is no such tenant', async () => {
    const { send } = tenants(({ tenant }) =>
      tenant === 'real-a' ? [secretOf('real-a'), OTHER_SECRET] : [],
    );
    expect(await send('real-a', EVENT)).toBe('handled');
    expect(await send('real-a', EVENT, { secret: OTHER_SECRET })).toBe('handled');
    expect(await send('real-b', EVENT)).toBe('signature-mismatch');
  });

  it('is asked for again once a second while the provider fails', async () => {
    const { asked, send } = tenants(() => Promise.reject(new Error('down')));
    for (const [calls, waitMs] of [
      [1, 999],
      [1, 1],
      [2, 999],
    ] as const) {
      expect(await send('real-a', EVENT)).toBe('secret-unavailable');
      expect(asked).toHaveBeenCalledTimes(calls);
      await jest.advanceTimersByTimeAsync(waitMs);
    }
  });

  it('is asked for once after five minutes, by deliveries that arrive together', async () => {
    const { asked, send } = tenants();
    await send('real-a', EVENT);
    await jest.advanceTimersByTimeAsync(300_000);
    await Promise.all([send('real-a', EVENT), send('real-a', EVENT)]);
    expect(asked.mock.calls.map(([{ refresh }]) => refresh)).toEqual([false, true]);
  });

  it('that does not match is named in the log, and so is a tenant without any', async () => {
    const { send, logger } = tenants();
    await send('real-a', EVENT);
    await send('real-a', EVENT, { secret: OTHER_SECRET });
    await jest.advanceTimersByTimeAsync(10_000); // a line of this kind may be logged again
    await send('made-up', EVENT);
    expect(logger.entries.map(({ message }) => message)).toEqual([
      expect.stringContaining('The only configured secret (secret-'),
      expect.stringContaining('There is no secret for this tenant.'),
    ]);
  });

  it('may come and go: the log says what is true now', async () => {
    const { asked, send, logger } = tenants(() => undefined);
    const told = async (signing?: { secret: string }) => {
      await jest.advanceTimersByTimeAsync(10_000); // each kind of line is written once in that time
      const before = logger.entries.length;
      const code = await send('acme', EVENT, signing);
      return [code, ...logger.entries.slice(before).map(({ message }) => message)];
    };
    const forged = { secret: OTHER_SECRET };
    const none = expect.stringContaining('There is no secret for this tenant.');
    const noMatch = expect.stringContaining('The only configured secret (secret-');
    expect(await told()).toEqual(['signature-mismatch', none]);
    asked.mockImplementation(() => secretOf('acme'));
    expect(await told()).toEqual(['handled']);
    expect(await told(forged)).toEqual(['signature-mismatch', noMatch]);
    asked.mockImplementation(() => Promise.reject(new Error('down')));
    await jest.advanceTimersByTimeAsync(300_000);
    expect(await told()).toEqual([
      'handled',
      'call-webhooks: The secret provider failed: Error: down. The cached secrets remain in use.',
    ]);
    asked.mockImplementation(() => undefined);
    await jest.advanceTimersByTimeAsync(300_000);
    expect(await told()).toEqual(['signature-mismatch', none]);
  });

  it('that is a list of nothing is none: a stranger gets 401, and one that lacks a part 503', async () => {
    const { send } = tenants(({ tenant }) => [
      tenant === 'real-a' ? secretOf(tenant) : undefined,
      undefined,
    ]);
    expect(await send('made-up', EVENT)).toBe('signature-mismatch');
    expect(await send('real-a', EVENT)).toBe('secret-unavailable');
  });

  it('that is malformed is an error of this tenant alone', async () => {
    const { send } = tenants(({ tenant }) => (tenant === 'real-a' ? 'oops' : secretOf(tenant)));
    expect(await send('real-a', EVENT)).toBe('secret-unavailable');
    expect(await send('real-b', EVENT)).toBe('handled');
  });
});

describe('the memory for names', () => {
  it('has the last 2,000 that have no secret, since anybody can send names', async () => {
    const { asked, flood } = tenants();
    await flood(['made-up']);
    await flood(['made-up']);
    expect(asked).toHaveBeenCalledTimes(1);
    for (let part = 0; part < 20; part++) await flood(names(`other-${String(part)}`, 100));
    asked.mockClear();
    await flood(['made-up']);
    expect(asked.mock.calls).toMatchObject([[{ tenant: 'made-up', refresh: false }]]);
  });

  it('has names without a secret apart from tenants, who use up none of the room', async () => {
    const { asked, flood } = tenants();
    await flood(['made-up']);
    for (let part = 0; part < 21; part++) await flood(names(`real-${String(part)}`, 100));
    asked.mockClear();
    await flood(['made-up']);
    expect(asked).not.toHaveBeenCalled();
  });

  it('has the last 20,000 tenants', async () => {
    const { asked, flood } = tenants();
    for (let part = 0; part < 40; part++) await flood(names(`real-${String(part)}`, 500));
    asked.mockClear();
    await flood(['real-0-0']);
    expect(asked).not.toHaveBeenCalled();
    await flood(['real-new-1', 'real-new-2']);
    asked.mockClear();
    await flood(['real-0-1']);
    expect(asked.mock.calls[0]).toMatchObject([{ tenant: 'real-0-1', refresh: false }]);
  });
});

describe('the lookups of names', () => {
  it('are 1,000 at once: a name beyond is a stranger, and a tenant keeps its secrets', async () => {
    const { asked, send, flood } = tenants();
    const forged = { secret: OTHER_SECRET };
    expect(await send('real-a', EVENT)).toBe('handled');
    await jest.advanceTimersByTimeAsync(300_000);
    const answer = deferred<undefined>();
    asked.mockImplementation(() => answer.promise);
    const flooding = flood(names('made-up', 1_000));
    await jest.advanceTimersByTimeAsync(0);
    asked.mockClear();
    expect(await send('real-b', EVENT)).toBe('signature-mismatch');
    expect(await send('real-a', EVENT)).toBe('handled');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await send('real-a', EVENT, forged)).toBe('secret-unavailable');
    expect(asked).not.toHaveBeenCalled();
    answer.resolve(undefined);
    expect(await flooding).toEqual(new Set(['signature-mismatch']));
    asked.mockImplementation(real);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await send('real-b', EVENT)).toBe('handled');
    expect(await send('real-a', EVENT, forged)).toBe('signature-mismatch');
  });

  it.each<[string, () => Promise<undefined>]>([
    ['failed', () => Promise.reject(new Error('down'))],
    ['found nothing', () => Promise.resolve(undefined)],
  ])('that %s take no room from those after them', async (_how, provider) => {
    const { asked, send, flood } = tenants(provider);
    for (let part = 0; part < 11; part++) await flood(names(`made-up-${String(part)}`, 100));
    asked.mockImplementation(real);
    expect(await send('real-a', EVENT)).toBe('handled');
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
