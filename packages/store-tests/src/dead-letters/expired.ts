import expect from '../../expect.cjs';
import { deadLetterId } from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import { deadLetter, LEASE_MS, type DeadLettersTestContext } from './under-test.ts';

/** Before all other letters. */
const EARLY = Date.UTC(2001, 0, 1);
const early = (ms: number) => new Date(EARLY + ms);

/** Letters that are kept for a limited time. */
export function expired({ it, letters, connections, advance }: DeadLettersTestContext): void {
  const turn = (ms: number, token: string, limit = 1_000) => ({
    ...{ before: early(ms), limit, token, leaseMs: LEASE_MS },
  });

  /** Letters that failed a millisecond apart. */
  async function failed(count: number) {
    const eventName = unique('event');
    const ids: string[] = [];
    for (let ms = 0; ms < count; ms++) {
      const letter = deadLetter({ eventName, failedAt: early(ms) });
      await letters().put(letter);
      ids.push(await deadLetterId(letter));
    }
    const left = async () => {
      const { letters: found } = await letters().list({ eventName });
      return found.map(({ id }) => ids.indexOf(id));
    };
    return { ids, left };
  }

  it('removes expired letters in batches, oldest failure first, and keeps the others', async () => {
    const { ids, left } = await failed(7);
    const total = await letters().count();
    const token = unique('token');
    const remove = () => letters().removeExpired!(turn(5, token, 2));
    expect(await remove()).toBe(2);
    expect(await left()).toEqual([2, 3, 4, 5, 6]);
    expect(await remove()).toBe(2);
    expect(await remove()).toBe(1);
    expect(await remove()).toBe(0);
    expect(await left()).toEqual([5, 6]);
    expect(await letters().get(ids[0]!)).toBeUndefined();
    expect(await letters().count()).toBe(total - 5);
    expect(await letters().removeExpired!(turn(100, token))).toBe(2);
    await advance(LEASE_MS + 1);
  });

  it('keeps an expired letter while a redrive has claimed it', async () => {
    const { ids, left } = await failed(4);
    const token = unique('token');
    for (const id of ids.slice(1, 3))
      await letters().claim(id, { token: 'redrive', leaseMs: LEASE_MS });
    expect(await letters().removeExpired!(turn(10, token))).toBe(2);
    expect(await left()).toEqual([1, 2]);
    expect(await letters().giveBack(ids[1]!, 'redrive')).toBe(true);
    expect(await letters().removeExpired!(turn(10, token))).toBe(1);
    expect(await left()).toEqual([2]);
    expect(await letters().settle(ids[2]!, 'redrive')).toBe(true);
    await advance(LEASE_MS + 1);
  });

  it('removes an expired letter whose redrive has died, once its claim has run out', async () => {
    const { ids, left } = await failed(3);
    const token = unique('token');
    await letters().claim(ids[1]!, { token: 'died', leaseMs: LEASE_MS });
    expect(await letters().removeExpired!(turn(10, token))).toBe(2);
    expect(await left()).toEqual([1]);
    await advance(LEASE_MS + 1);
    expect(await letters().removeExpired!(turn(10, token))).toBe(1);
    expect(await left()).toEqual([]);
    await advance(LEASE_MS + 1);
  });

  it('removes an expired letter whose event has failed again while a redrive had claimed it', async () => {
    const letter = deadLetter({ eventName: unique('event'), failedAt: early(3) });
    await letters().put(letter);
    const id = await deadLetterId(letter);
    await letters().claim(id, { token: 'redrive', leaseMs: LEASE_MS });
    await letters().put(letter);
    expect(await letters().removeExpired!(turn(10, unique('token')))).toBe(1);
    expect(await letters().get(id)).toBeUndefined();
    await advance(LEASE_MS + 1);
  });

  it('lets one process at a time remove expired letters, until its turn has expired', async () => {
    const { left } = await failed(4);
    const [one, other] = [unique('token'), unique('token')];
    const by = (token: string, index: number) =>
      connections()[index % connections().length]!.removeExpired!(turn(10, token, 1));
    expect(await by(one, 0)).toBe(1);
    expect(await by(other, 1)).toBeUndefined();
    expect(await by(one, 2)).toBe(1);
    expect(await left()).toEqual([2, 3]);
    await advance(LEASE_MS + 1);
    expect(await by(other, 1)).toBe(1);
    expect(await by(one, 0)).toBeUndefined();
    expect(await left()).toEqual([3]);
    expect(await by(other, 1)).toBe(1);
    await advance(LEASE_MS + 1);
  });

  it('removes expired letters once for processes that begin at the same time', async () => {
    const { left } = await failed(20);
    const removed = await Promise.all(
      connections()
        .slice(0, 4)
        .map((connection) => connection.removeExpired!(turn(10, unique('token'), 5))),
    );
    expect(removed.filter((count) => count !== undefined)).toEqual([5]);
    expect(await left()).toHaveLength(15);
    await advance(LEASE_MS + 1);
    expect(await letters().removeExpired!(turn(100, unique('token')))).toBe(15);
    await advance(LEASE_MS + 1);
  });
}
