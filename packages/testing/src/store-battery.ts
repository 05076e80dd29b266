import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Claim, Store } from '@call-webhooks/core';

export interface StoreUnderTest {
  name: string;
  /** A fresh store. `turn` moves its clock on; milliseconds. */
  open(): Promise<{
    store: Store;
    now(): number;
    turn(ms: number): Promise<void> | void;
    close?(): Promise<void>;
  }>;
}

let count = 0;
const unique = (what: string) => `${what}-${String(process.pid)}-${String(++count)}`;

/** What every store must do, whatever it is made of. */
export function storeBattery(subject: StoreUnderTest): void {
  describe(`${subject.name}: the store battery`, () => {
    let opened: Awaited<ReturnType<StoreUnderTest['open']>>;
    beforeAll(async () => {
      opened = await subject.open();
    });
    afterAll(async () => opened.close?.());

    const claim = (key: string | undefined, more: Partial<Claim> = {}): Claim => ({
      webhookId: unique('webhook'),
      replayUntil: opened.now() + 600_000,
      leaseMs: 60_000,
      token: unique('token'),
      ...(key !== undefined && { key }),
      ...more,
    });

    it('admits an event once at a time, and knows it as done afterwards', async () => {
      const key = unique('event');
      const first = claim(key);
      expect(await opened.store.admit(first)).toEqual({ status: 'admitted', attempt: 1 });
      expect(await opened.store.admit(claim(key))).toEqual({ status: 'in-progress' });
      expect(await opened.store.complete(key, first.token)).toBe(true);
      expect(await opened.store.admit(claim(key))).toEqual({ status: 'duplicate' });
    });

    it('counts attempts over releases and over leases that ran out', async () => {
      const key = unique('event');
      const first = claim(key);
      await opened.store.admit(first);
      expect(await opened.store.release(key, first.token)).toBe(true);
      expect(await opened.store.admit(claim(key))).toEqual({ status: 'admitted', attempt: 2 });
      await opened.turn(60_001);
      expect(await opened.store.admit(claim(key))).toEqual({ status: 'admitted', attempt: 3 });
    });

    it('refuses a webhook id that it saw, with or without a key, until replayUntil', async () => {
      for (const key of [undefined, unique('event')]) {
        const first = claim(key);
        expect((await opened.store.admit(first)).status).toBe('admitted');
        const again = { ...first, token: unique('token') };
        expect(await opened.store.admit(again)).toEqual({ status: 'replayed' });
        await opened.turn(599_000);
        expect(await opened.store.admit(again)).toEqual({ status: 'replayed' });
        await opened.turn(2_000);
        expect(
          (await opened.store.admit({ ...again, replayUntil: opened.now() + 1_000 })).status,
        ).toBe('admitted');
      }
    });

    it('takes the same claim with the same token twice as one: a lost reply', async () => {
      for (const key of [undefined, unique('event')]) {
        const lost = claim(key);
        expect(await opened.store.admit(lost)).toEqual({ status: 'admitted', attempt: 1 });
        expect(await opened.store.admit(lost)).toEqual({ status: 'admitted', attempt: 1 });
      }
    });

    it('fences a zombie: it can not complete, release or extend, before and after a new owner came', async () => {
      const key = unique('event');
      const zombie = claim(key);
      await opened.store.admit(zombie);
      await opened.turn(60_001);
      const refused = async () => {
        expect(await opened.store.complete(key, zombie.token)).toBe(false);
        expect(await opened.store.release(key, zombie.token)).toBe(false);
        expect(await opened.store.extend(key, zombie.token, 60_000)).toBe(false);
      };
      await refused();
      const owner = claim(key);
      expect(await opened.store.admit(owner)).toEqual({ status: 'admitted', attempt: 2 });
      await refused();
      expect(await opened.store.complete(key, owner.token)).toBe(true);
    });

    it('extends a live lease from now on', async () => {
      const key = unique('event');
      const first = claim(key);
      await opened.store.admit(first);
      await opened.turn(50_000);
      expect(await opened.store.extend(key, first.token, 60_000)).toBe(true);
      await opened.turn(50_000);
      expect(await opened.store.admit(claim(key))).toEqual({ status: 'in-progress' });
      expect(await opened.store.complete(key, first.token)).toBe(true);
    });

    it('has one winner among 200 racing claims', async () => {
      const key = unique('event');
      const admissions = await Promise.all(
        Array.from({ length: 200 }, () => opened.store.admit(claim(key))),
      );
      expect(admissions.filter(({ status }) => status === 'admitted')).toHaveLength(1);
      expect(admissions.filter(({ status }) => status === 'in-progress')).toHaveLength(199);
    });

    it('keeps events apart whose keys look alike', async () => {
      const key = unique('event');
      for (const one of [key, `${key}:`, `${key} `, key.toUpperCase(), `${key}\0`]) {
        expect(await opened.store.admit(claim(one))).toEqual({ status: 'admitted', attempt: 1 });
      }
    });
  });
}
