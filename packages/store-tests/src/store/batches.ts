import expect from '../../expect.cjs';
import type { Claim } from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import { LEASE_MS, REMEMBER_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

const ADMITTED = { status: 'admitted', attempt: 1 };
const MANY = 150;

/** Calls of one turn of the event loop, which a store may answer in one round trip. */
export function batches({ it, store, claim, advance }: StoreTestContext): void {
  const event = () => claim(unique('event')) as Claim & { key: string };
  const some = (number: number) => Array.from({ length: number }, event);
  const admitAll = (claims: Claim[]) => Promise.all(claims.map((one) => store().admit(one)));
  const completeAll = (claims: Claim[]) =>
    Promise.all(claims.map(({ key, token }) => store().complete(key!, token)));

  it('answers many claims and completions of one turn, each on its own', async () => {
    const claims = some(MANY);
    expect(await admitAll(claims)).toEqual(claims.map(() => ADMITTED));
    const strangers = claims.map((one) => ({ ...one, token: unique('token') }));
    expect(await completeAll(strangers)).toEqual(claims.map(() => false));
    const half = claims.filter((_, index) => index % 2 === 0);
    expect(await completeAll(half)).toEqual(half.map(() => true));
    const again = claims.map(({ key }) => claim(key));
    expect(await admitAll(again)).toEqual(
      claims.map((_, index) => ({ status: index % 2 === 0 ? 'duplicate' : 'in-progress' })),
    );
  });

  it('gives every possible answer to the claims of one turn', async () => {
    const [done, dead, busy, free, replayed] = [event(), event(), event(), event(), event()];
    await admitAll([done, dead, busy, free, replayed]);
    await store().complete(done.key, done.token);
    await store().complete(dead.key, dead.token, 'dead-lettered');
    await store().release(free.key, free.token);
    const group = unique('group');
    const claims = [
      ...[done, dead, busy, free].map(({ key }) => claim(key)),
      { ...replayed, token: unique('token') },
      claim(undefined),
      { ...event(), group },
    ];
    const statuses = (await admitAll(claims)).map(({ status }) => status);
    expect(statuses).toEqual([
      ...['duplicate', 'dead-lettered', 'in-progress', 'admitted', 'replayed'],
      ...['admitted', 'admitted'],
    ]);
    expect(await admitAll([{ ...event(), group }, event()])).toEqual([
      { status: 'group-busy' },
      ADMITTED,
    ]);
  });

  it('ends and extends leases of one turn, each by its own token', async () => {
    const [handled, dead, released, extended, lost] = [event(), event(), event(), event(), event()];
    await admitAll([handled, dead, released, extended, lost]);
    const more = some(2);
    const [a, b, c, d, e, ...admissions] = await Promise.all([
      store().complete(handled.key, handled.token),
      store().complete(dead.key, dead.token, 'dead-lettered'),
      store().release(released.key, released.token),
      store().extend(extended.key, extended.token, LEASE_MS * 2),
      store().complete(lost.key, unique('token')),
      ...more.map((one) => store().admit(one)),
    ]);
    expect([a, b, c, d, e]).toEqual([true, true, true, true, false]);
    expect(admissions).toEqual([ADMITTED, ADMITTED]);
    await advance(LEASE_MS + 1);
    const after = [handled, dead, released, extended, lost].map(({ key }) => claim(key));
    expect(await admitAll(after)).toEqual([
      { status: 'duplicate' },
      { status: 'dead-lettered' },
      { status: 'admitted', attempt: 2 },
      { status: 'in-progress' },
      { status: 'admitted', attempt: 2 },
    ]);
  });

  it('ends and extends no lease of one turn that has expired, and counts the attempts on', async () => {
    const claims = some(20);
    await admitAll(claims);
    await advance(LEASE_MS + 1);
    const refused = claims.map(() => false);
    expect(await completeAll(claims)).toEqual(refused);
    const all = (call: 'release' | 'extend') =>
      Promise.all(claims.map(({ key, token }) => store()[call](key, token, LEASE_MS)));
    expect(await all('release')).toEqual(refused);
    expect(await all('extend')).toEqual(refused);
    const again = claims.map(({ key }) => claim(key));
    expect(await admitAll(again)).toEqual(again.map(() => ({ status: 'admitted', attempt: 2 })));
    expect(await completeAll(claims)).toEqual(refused);
    expect(await completeAll(again)).toEqual(again.map(() => true));
  });

  it('gives the claims of one turn that are repeated the same answers, and no further attempt', async () => {
    const claims = some(20);
    await admitAll(claims);
    await Promise.all(claims.map(({ key, token }) => store().release(key, token)));
    const second = claims.map(({ key }) => claim(key));
    for (let round = 0; round < 3; round++)
      expect(await admitAll(second)).toEqual(
        second.map(() => ({ status: 'admitted', attempt: 2 })),
      );
    await completeAll(second);
    expect(await admitAll(second)).toEqual(second.map(() => ({ status: 'duplicate' })));
  });

  it('forgets the webhook ids and events of one turn after their time, and not before', async () => {
    const claims = some(20);
    await admitAll(claims);
    await completeAll(claims.slice(0, 10));
    const replays = () => claims.map((one) => ({ ...one, token: unique('token') }));
    await advance(REMEMBER_MS - 2_000);
    expect(await admitAll(replays())).toEqual(claims.map(() => ({ status: 'replayed' })));
    await advance(SLACK_MS + 2_000);
    expect(await admitAll(replays())).toEqual(
      claims.map((_, index) =>
        index < 10 ? { status: 'duplicate' } : { status: 'admitted', attempt: 2 },
      ),
    );
    await advance(86_400_000 + LEASE_MS + SLACK_MS);
    const fresh = claims.map(({ key }) => claim(key));
    expect(await admitAll(fresh)).toEqual(fresh.map(() => ADMITTED));
  });

  it('keeps a turn together with texts that no database stores unchanged', async () => {
    const odd = ['\0', '\ud800', "'; --", '\u{1f4de}', 'x'.repeat(4_000), '{}', '\\', '"', ','];
    const claims = odd.map((text) =>
      claim(`${unique('event')}${text}`, { webhookId: `${unique('webhook')}${text}` }),
    );
    const all = [...claims, ...some(3)];
    expect(await admitAll(all)).toEqual(all.map(() => ADMITTED));
    expect(await completeAll(all)).toEqual(all.map(() => true));
  });

  it('lets one call of a turn fail, and no other', async () => {
    const bad = [Number.NaN, Number.POSITIVE_INFINITY].map((leaseMs) =>
      claim(unique('event'), { leaseMs }),
    );
    const [good, last] = [some(3), some(1)];
    const settled = await Promise.allSettled(
      [...good, ...bad, ...last].map((one) => store().admit(one)),
    );
    expect(settled.filter((_, index) => index < 3 || index === 5)).toEqual(
      [...good, ...last].map(() => ({ status: 'fulfilled', value: ADMITTED })),
    );
    expect(await completeAll([...good, ...last])).toEqual([true, true, true, true]);
  });
}
