import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, type Effects, type StoreTestContext } from './under-test.ts';

/** Events that are done in a transaction of the user, which also has an effect. */
export function transactions(
  { it, store, claim, advance }: StoreTestContext,
  { transact, committed }: Pick<Effects, 'transact' | 'committed'>,
  client: () => unknown,
): void {
  const completeIn = async (tx: unknown, key: string, token: string) =>
    store().completeIn!(tx, key, token);
  /** Ends a transaction without an effect. */
  const rollBack = () => {
    throw new Error('rolled back');
  };
  /** An admitted claim of a new event. */
  async function admitted(odd = '') {
    const key = unique('event') + odd;
    const first = claim(key);
    expect(await store().admit(first)).toEqual({ status: 'admitted', attempt: 1 });
    return { key, first, token: first.token };
  }

  it('commits the effect and "done" together', async () => {
    const { key, first, token } = await admitted();
    await transact(async ({ tx, write }) => {
      await write(key);
      expect(await completeIn(tx, key, token)).toBe(true);
    });
    expect(await committed(key)).toBe(1);
    expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
    expect(await store().admit(first)).toEqual({ status: 'duplicate' });
    expect(await store().complete(key, token)).toBe(false);
    expect(await store().release(key, token)).toBe(false);
    expect(await store().extend(key, token, LEASE_MS)).toBe(false);
    await advance(LEASE_MS * 2);
    expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
  });

  it('rolls both back: the lease is held as before', async () => {
    const { key, first, token } = await admitted();
    const rolledBack = transact(async ({ tx, write }) => {
      await write(key);
      expect(await completeIn(tx, key, token)).toBe(true);
      rollBack();
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await committed(key)).toBe(0);
    expect(await store().admit(first)).toEqual({ status: 'admitted', attempt: 1 });
    expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
    expect(await store().extend(key, token, LEASE_MS)).toBe(true);
    expect(await store().release(key, token)).toBe(true);
    expect(await store().admit(claim(key))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('fences a token that has lost the lease, has released it, or has never held it', async () => {
    const zombie = await admitted();
    await advance(LEASE_MS + 1);
    const owner = claim(zombie.key);
    const released = await admitted();
    await store().release(released.key, released.token);
    const givenUp = await admitted();
    await store().complete(givenUp.key, givenUp.token, 'dead-lettered');
    const refused = async ({ key, token }: { key: string; token: string }) => {
      const transaction = transact(async ({ tx, write }) => {
        await write(key);
        if (!(await completeIn(tx, key, token))) rollBack();
      });
      await expect(transaction).rejects.toThrow('rolled back');
      expect(await committed(key)).toBe(0);
    };
    await refused(zombie);
    expect((await store().admit(owner)).status).toBe('admitted');
    for (const one of [zombie, released, givenUp]) await refused(one);
    for (const { key } of [zombie, released]) await refused({ key, token: unique('token') });
    await refused({ key: unique('event'), token: zombie.token });
    expect(await store().complete(zombie.key, owner.token)).toBe(true);
    await refused(zombie);
  });

  it('may be repeated by the token that did it, in the same transaction and after the commit', async () => {
    const { key, token } = await admitted("'; -- \\ $1 ?\0\ud800"); // no database stores it as it is
    await transact(async ({ tx }) => {
      expect(await completeIn(tx, key, token)).toBe(true);
      expect(await completeIn(tx, key, token)).toBe(true);
    });
    await transact(async ({ tx }) => {
      expect(await completeIn(tx, key, token)).toBe(true);
      expect(await completeIn(tx, key, unique('token'))).toBe(false);
    });
  });

  for (const commits of [true, false])
    it(`admits nobody while the transaction is open (committed: ${String(commits)})`, async () => {
      const { key, first, token } = await admitted();
      const claims: Promise<unknown>[] = [];
      const renewals: Promise<boolean>[] = [];
      const statusOf = (one: typeof first) => {
        const failed = () => 'failed'; // the store may give up
        return store()
          .admit(one)
          .then(({ status }) => status, failed);
      };
      const transaction = transact(async ({ tx, write }) => {
        await write(key);
        expect(await completeIn(tx, key, token)).toBe(true);
        claims.push(statusOf(claim(key)), statusOf(first));
        renewals.push(
          store()
            .extend(key, token, LEASE_MS)
            .catch(() => !commits),
        );
        await new Promise((resolve) => setTimeout(resolve, 60));
        if (!commits) rollBack();
      }).catch(() => undefined);
      await transaction;
      const [other, same] = await Promise.all(claims);
      expect(['in-progress', 'failed', ...(commits ? ['duplicate'] : [])]).toContain(other);
      if (commits) expect(['duplicate', 'in-progress', 'failed']).toContain(same);
      else expect(['admitted', 'failed']).toContain(same);
      expect(await Promise.all(renewals)).toEqual([!commits]);
      expect(await store().admit(first)).toEqual(
        commits ? { status: 'duplicate' } : { status: 'admitted', attempt: 1 },
      );
    });

  it('lets one of two racing transactions of two owners commit', async () => {
    const { key, token } = await admitted();
    await advance(LEASE_MS + 1);
    const owner = claim(key);
    await store().admit(owner);
    const attempt = (by: string) =>
      transact(async ({ tx, write }) => {
        await write(key);
        if (!(await completeIn(tx, key, by))) rollBack();
      }).catch(() => undefined);
    await Promise.all([attempt(token), attempt(owner.token)]);
    expect(await committed(key)).toBeLessThanOrEqual(1); // a busy file may refuse both
    await attempt(owner.token);
    await attempt(token);
    expect(await store().admit(claim(key))).toEqual({ status: 'duplicate' });
  });

  it('refuses anything that is not a transaction, with the error invalid-options', async () => {
    for (const tx of [undefined, null, 'BEGIN', {}, { query: 'SELECT 1' }, () => undefined]) {
      const { key, token } = await admitted();
      await expect(completeIn(tx, key, token)).rejects.toMatchObject({ code: 'invalid-options' });
      expect(await store().complete(key, token)).toBe(true);
    }
  });

  it('refuses the pool or client that begins transactions, whose statements are in none', async () => {
    const { key, token } = await admitted();
    await expect(completeIn(client(), key, token)).rejects.toThrow();
    expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
    expect(await store().complete(key, token)).toBe(true);
  });

  it('refuses a transaction that has ended', async () => {
    const { key, token } = await admitted();
    let ended: unknown;
    await transact(async ({ tx }) => void (ended = tx));
    await expect(completeIn(ended, key, token)).rejects.toThrow();
    expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
    expect(await store().complete(key, token)).toBe(true);
  });
}
