import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

/** How long a store remembers events by default; milliseconds. */
const REMEMBER_EVENTS_MS = 86_400_000;

/** What a store knows of events, once it need not know it any more. */
export function expiry({ it, has, store, claim, advance }: StoreTestContext): void {
  const stateOf = async (key: string) => (await store().peek!([key]))[0];
  const canPeek = has('peek');

  for (const [state, status, end] of [
    ['handled', 'duplicate', (key: string, token: string) => store().complete(key, token)],
    [
      'dead-lettered',
      'dead-lettered',
      (key: string, token: string) => store().complete(key, token, 'dead-lettered'),
    ],
    ['failed', 'admitted', (key: string, token: string) => store().release(key, token)],
    // Whoever ran it has died.
    ['running', 'in-progress', async () => true],
  ] as const)
    it(`forgets an event that is ${state} when rememberFor is over, and not before`, async () => {
      const key = unique('event');
      const { token } = claim(key);
      await store().admit(claim(key, { token }));
      expect(await end(key, token)).toBe(true);
      if (state !== 'running') await advance(REMEMBER_EVENTS_MS - 60_000);
      if (canPeek) expect(await stateOf(key)).toBe(state);
      // What is refused must not prolong it; what is admitted would.
      if (state !== 'failed') expect((await store().admit(claim(key))).status).toBe(status);
      await advance(LEASE_MS + (state === 'running' ? REMEMBER_EVENTS_MS : 0) + SLACK_MS);
      if (canPeek) expect(await stateOf(key)).toBeUndefined();
      if (has('reopen')) expect(await store().reopen!(key)).toBe(false);
      expect(await store().admit(claim(key))).toEqual({ status: 'admitted', attempt: 1 });
      if (canPeek) expect(await stateOf(key)).toBe('running');
    });

  it('frees the group of an event that is forgotten', async () => {
    const group = unique('group');
    await store().admit(claim(unique('event'), { group }));
    await advance(LEASE_MS + REMEMBER_EVENTS_MS + SLACK_MS);
    const other = claim(unique('event'), { group });
    expect(await store().admit(other)).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('refuses to end or extend a lease that has expired', async () => {
    const key = unique('event');
    const { token } = claim(key);
    await store().admit(claim(key, { token }));
    await advance(REMEMBER_EVENTS_MS + SLACK_MS);
    expect(await store().extend(key, token, LEASE_MS)).toBe(false);
    expect(await store().release(key, token)).toBe(false);
    expect(await store().complete(key, token)).toBe(false);
    expect(await store().admit(claim(key))).toEqual({ status: 'admitted', attempt: 1 });
  });

  if (has('saveCursor'))
    it('keeps a cursor until another one is saved', async () => {
      const name = unique('cursor');
      await store().saveCursor!(name, 'here');
      await advance(30 * REMEMBER_EVENTS_MS);
      expect(await store().loadCursor!(name)).toBe('here');
    });
}
