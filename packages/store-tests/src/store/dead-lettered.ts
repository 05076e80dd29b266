import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, type StoreTestContext } from './under-test.ts';

const DEAD_LETTERED = { status: 'dead-lettered' };

/** Events that were given up, and are in the dead letters. */
export function deadLettered({
  it,
  has,
  store,
  connections,
  claim,
  advance,
}: StoreTestContext): void {
  /** A dead-lettered event after its third attempt. */
  async function deadLetteredEvent(): Promise<string> {
    const key = unique('event');
    for (let attempt = 1; attempt <= 3; attempt++) {
      const owner = claim(key);
      expect(await store().admit(owner)).toEqual({ status: 'admitted', attempt });
      if (attempt < 3) expect(await store().release(key, owner.token)).toBe(true);
      else expect(await store().complete(key, owner.token, 'dead-lettered')).toBe(true);
    }
    return key;
  }

  it('tells a dead-lettered event from one that was handled', async () => {
    const key = await deadLetteredEvent();
    for (const one of connections()) expect(await one.admit(claim(key))).toEqual(DEAD_LETTERED);
    await advance(LEASE_MS * 2);
    expect(await store().admit(claim(key))).toEqual(DEAD_LETTERED);
  });

  if (has('reopen'))
    it('admits a dead-lettered event that was reopened, as its first attempt', async () => {
      const key = await deadLetteredEvent();
      expect(await store().reopen!(key)).toBe(true);
      expect(await store().reopen!(key)).toBe(false);
      const first = claim(key);
      expect(await store().admit(first)).toEqual({ status: 'admitted', attempt: 1 });
      expect(await store().complete(key, first.token, 'dead-lettered')).toBe(true);
      expect(await store().admit(claim(key))).toEqual(DEAD_LETTERED);

      expect(await store().reopen!(key)).toBe(true);
      const second = claim(key);
      expect(await store().admit(second)).toEqual({ status: 'admitted', attempt: 1 });
      expect(await store().complete(key, second.token)).toBe(true);
      expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
    });

  if (has('reopen'))
    it('reopens nothing but dead-lettered events', async () => {
      const unknown = unique('event');
      expect(await store().reopen!(unknown)).toBe(false);
      expect(await store().admit(claim(unknown))).toEqual({ status: 'admitted', attempt: 1 });

      const key = unique('event');
      const owner = claim(key);
      await store().admit(owner);
      expect(await store().reopen!(key)).toBe(false);
      expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
      expect(await store().release(key, owner.token)).toBe(true);
      expect(await store().reopen!(key)).toBe(false);
      const second = claim(key);
      expect(await store().admit(second)).toEqual({ status: 'admitted', attempt: 2 });
      await store().complete(key, second.token);
      expect(await store().reopen!(key)).toBe(false);
      expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
    });

  it('fences a token that has lost its lease: it cannot mark an event as dead-lettered, or change one that is', async () => {
    const key = unique('event');
    const zombie = claim(key);
    await store().admit(zombie);
    await advance(LEASE_MS + 1);
    expect(await store().complete(key, zombie.token, 'dead-lettered')).toBe(false);
    const owner = claim(key);
    expect(await store().admit(owner)).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store().complete(key, zombie.token, 'dead-lettered')).toBe(false);
    expect(await store().complete(key, owner.token, 'dead-lettered')).toBe(true);
    expect(await store().complete(key, zombie.token)).toBe(false);
    expect(await store().release(key, owner.token)).toBe(false);
    expect(await store().extend(key, owner.token, LEASE_MS)).toBe(false);
    expect(await store().admit(claim(key))).toEqual(DEAD_LETTERED);
  });

  if (has('reopen'))
    it('reopens an event for one of 20 racing callers, and one of 20 claims gets it', async () => {
      const key = await deadLetteredEvent();
      const on = (index: number) => connections()[index % connections().length]!;
      const twenty = Array.from({ length: 20 }, (_, index) => on(index));
      const reopened = await Promise.all(twenty.map((one) => one.reopen!(key)));
      expect(reopened.filter(Boolean)).toHaveLength(1);
      const admissions = await Promise.all(twenty.map((one) => one.admit(claim(key))));
      expect(admissions.filter(({ status }) => status === 'admitted')).toHaveLength(1);
      expect(admissions.filter(({ status }) => status === 'in-progress')).toHaveLength(19);
    });

  it('says how long it remembers, by now', async () => {
    expect(store().rememberFor).toBeLessThanOrEqual(86_400_000);
    await advance(86_400_000); // one in memory knows nothing from before it was created
    expect(store().rememberFor).toBe(86_400_000);
  });
}
