import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, type StoreTestContext } from './under-test.ts';

/** Events that are forgotten because somebody asked to. */
export function forgotten({ it, store, claim, advance }: StoreTestContext): void {
  async function admitted() {
    const [key, token] = [unique('event'), unique('token')];
    await store().admit(claim(key, { token }));
    return { key, token };
  }
  const attempt = async (key: string) => store().admit(claim(key));
  const isNew = { status: 'admitted', attempt: 1 };

  it('forgets events that are done, failed or dead-lettered, and no other', async () => {
    const [done, failed, givenUp, other] = await Promise.all([1, 2, 3, 4].map(admitted));
    await store().complete(done!.key, done!.token);
    await store().complete(other!.key, other!.token);
    await store().release(failed!.key, failed!.token);
    await store().complete(givenUp!.key, givenUp!.token, 'dead-lettered');
    const keys = [done!.key, unique('nobody'), failed!.key, givenUp!.key];
    expect(await store().forget!(keys)).toBe(3);
    expect(await store().forget!(keys)).toBe(0);
    for (const { key } of [done!, failed!, givenUp!]) expect(await attempt(key)).toEqual(isNew);
    expect((await attempt(other!.key)).status).toBe('duplicate');
    expect(await store().forget!([])).toBe(0);
  });

  it('leaves a running event alone, and forgets it once its lease has expired', async () => {
    const { key, token } = await admitted();
    expect(await store().forget!([key])).toBe(0);
    expect(await store().extend(key, token, LEASE_MS)).toBe(true);
    await advance(LEASE_MS + 1);
    expect(await store().forget!([key])).toBe(1);
    expect(await store().complete(key, token)).toBe(false);
    expect(await attempt(key)).toEqual(isNew);
  });

  it('remembers the webhook id of an event that is forgotten', async () => {
    const [key, webhookId] = [unique('event'), unique('webhook')];
    const { token } = claim(key);
    await store().admit(claim(key, { token, webhookId }));
    await store().complete(key, token);
    expect(await store().forget!([key])).toBe(1);
    expect((await store().admit(claim(key, { webhookId }))).status).toBe('replayed');
  });

  it('accepts any string as a key', async () => {
    for (const key of ['', 'a\0b', '\ud800', "'; --", 'x'.repeat(10_000)])
      expect(await store().forget!([key])).toBe(0);
  });
}
