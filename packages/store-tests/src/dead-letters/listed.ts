import expect from '../../expect.cjs';
import type { DeadLetterQuery } from '@call-webhooks/core/stores';
import { badCursors } from '../bad-cursors.ts';
import { difference } from '../bytes.ts';
import { unique } from '../unique.ts';
import { after, allLetters, deadLetter, type DeadLettersTestContext } from './under-test.ts';

/** Lists, pages, filters and counts. */
export function listed({ it, letters }: DeadLettersTestContext): void {
  const all = (query: DeadLetterQuery) => allLetters(letters(), query);

  it('lists each letter once over many pages, oldest failure first', async () => {
    const eventName = unique('event');
    // Several fail in the same millisecond.
    await Promise.all(
      Array.from({ length: 150 }, (_, number) =>
        letters().put(deadLetter({ eventName, failedAt: after(number % 20) })),
      ),
    );
    for (const limit of [1_000, 150, 100, 7]) {
      const found = await all({ eventName, limit });
      expect(found).toHaveLength(150);
      expect(new Set(found.map(({ id }) => id)).size).toBe(150);
      const times = found.map(({ failedAt }) => failedAt.getTime());
      expect(times).toEqual([...times].sort((one, other) => one - other));
    }
    expect((await letters().list({ eventName })).letters).toHaveLength(100);
  });

  it('lists letters without their bodies, which can be asked for', async () => {
    const eventName = unique('event');
    const rawBody = Buffer.from(`{"note":"${'x'.repeat(100_000)}"}`);
    await letters().put(deadLetter({ eventName, rawBody }));
    const [listed] = await all({ eventName });
    expect(listed).not.toHaveProperty('rawBody');
    expect(JSON.stringify(listed).length).toBeLessThan(1_000);
    const whole = await letters().get(listed!.id);
    expect(whole).toEqual({ ...listed, bytes: rawBody.length, rawBody: expect.anything() });
    expect(difference(whole!.rawBody, rawBody)).toBe('none');
  });

  it('filters by event name, reason and time, and counts alike', async () => {
    const [one, other] = [unique('event'), unique('event')];
    for (let second = 0; second < 6; second++) {
      const failedAt = after(second * 1_000);
      const reason = second % 2 === 0 ? 'handler-failed' : 'invalid-payload';
      await letters().put(deadLetter({ eventName: one, failedAt, reason }));
      await letters().put(deadLetter({ eventName: other, failedAt, reason }));
    }
    const [since, until] = [after(1_000), after(4_000)];
    const expected: [DeadLetterQuery, number[]][] = [
      [{}, [0, 1, 2, 3, 4, 5]],
      [{ reason: 'invalid-payload' }, [1, 3, 5]],
      [{ since }, [1, 2, 3, 4, 5]],
      [{ until }, [0, 1, 2, 3]],
      [{ since, until, reason: 'handler-failed' }, [2]],
      [{ since: until, until: since }, []],
    ];
    for (const [filter, seconds] of expected) {
      for (const limit of [1, 2, 1_000]) {
        const found = await all({ eventName: one, limit, ...filter });
        expect(found.map(({ failedAt }) => failedAt)).toEqual(
          seconds.map((second) => after(second * 1_000)),
        );
      }
      expect(await letters().count({ eventName: one, ...filter })).toBe(seconds.length);
    }
    const total = await letters().count();
    expect(total).toBeGreaterThanOrEqual(12);
    expect(await all({ limit: 1_000 })).toHaveLength(total);
  });

  it('filters by tenant, and counts alike', async () => {
    const eventName = unique('event');
    const tenants = ['acme', 'acme inc. %20', '"ünïcode" 📞', 'x'.repeat(128), undefined];
    for (const [at, tenant] of tenants.entries())
      for (let i = 0; i <= at; i++)
        await letters().put(deadLetter({ eventName, ...(tenant !== undefined && { tenant }) }));
    for (const [at, tenant] of tenants.slice(0, -1).entries()) {
      const found = await all({ eventName, tenant, limit: 2 });
      expect(found.map((letter) => letter.tenant)).toEqual(Array(at + 1).fill(tenant));
      expect(await letters().count({ eventName, tenant })).toBe(at + 1);
    }
    expect(await all({ eventName, tenant: 'Acme' })).toEqual([]);
    expect(await all({ eventName, tenant: 'acme', reason: 'invalid-payload' })).toEqual([]);
    expect(await letters().count({ eventName, tenant: undefined })).toBe(15);
  });

  it('refuses a query that means nothing', async () => {
    await expect(letters().list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid-options' });
  });

  it('accepts any time as a limit', async () => {
    const [first, last] = [new Date(-8.64e15), new Date(8.64e15)];
    const eventName = unique('event');
    await letters().put(deadLetter({ eventName }));
    expect(await letters().count({ eventName, since: first, until: last })).toBe(1);
    expect((await letters().list({ eventName, since: first })).letters).toHaveLength(1);
    for (const none of [{ since: last }, { until: first }, { since: first, until: first }])
      expect(await letters().count({ eventName, ...none })).toBe(0);
  });

  it('refuses a cursor that no list gave', async () => {
    const eventName = unique('event');
    for (let second = 0; second < 2; second++)
      await letters().put(deadLetter({ eventName, failedAt: after(second * 1_000) }));
    const { cursor } = await letters().list({ eventName, limit: 1 });
    expect((await letters().list({ eventName, cursor })).letters).toHaveLength(1);
    for (const garbage of [...badCursors(cursor!), `${cursor!}'`, 'k.an%20id'])
      await expect(letters().list({ eventName, cursor: garbage })).rejects.toMatchObject({
        name: 'WebhookError',
        code: 'invalid-cursor',
      });
  });
}
