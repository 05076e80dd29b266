import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, REMEMBER_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

/** Groups, of which one event runs at a time. */
export function groups({ it, store, connections, claim, advance }: StoreTestContext): void {
  const admitted = { status: 'admitted', attempt: 1 };
  const groupBusy = { status: 'group-busy' };
  /** Two claims for two events of a new group. */
  const two = () => {
    const group = unique('group');
    return [claim(unique('event'), { group }), claim(unique('event'), { group })] as const;
  };

  it('admits one event of a group at a time; a refused claim uses up no attempt', async () => {
    const [first, second] = two();
    expect(await store().admit(first)).toEqual(admitted);
    for (let i = 0; i < 5; i++) expect(await store().admit(second)).toEqual(groupBusy);
    expect(await store().complete(first.key!, first.token)).toBe(true);
    expect(await store().admit(second)).toEqual(admitted);
    const third = claim(unique('event'), { group: second.group });
    expect(await store().admit(third)).toEqual(groupBusy);
    expect(await store().release(second.key!, second.token)).toBe(true);
    expect(await store().admit(third)).toEqual(admitted);
    expect(await store().complete(third.key!, third.token, 'dead-lettered')).toBe(true);
    const again = claim(second.key, { group: second.group });
    expect(await store().admit(again)).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('gives a refused claim no lease, but remembers its webhook id with this token', async () => {
    const [first, second] = two();
    for (let i = 0; i < 3; i++) expect(await store().admit(first)).toEqual(admitted);
    expect(await store().admit(second)).toEqual(groupBusy);
    for (const call of ['complete', 'release'] as const)
      expect(await store()[call](second.key!, second.token)).toBe(false);
    expect(await store().extend(second.key!, second.token, LEASE_MS)).toBe(false);
    const replay = { ...second, token: unique('token') };
    expect(await store().admit(replay)).toEqual({ status: 'replayed' });
    const alone = claim(second.key); // outside of the group nobody holds this event
    expect(await store().admit(alone)).toEqual(admitted);
    expect(await store().release(alone.key!, alone.token)).toBe(true);
    expect(await store().complete(first.key!, first.token)).toBe(true);
    expect(await store().admit(replay)).toEqual({ status: 'replayed' });
    expect(await store().admit(second)).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('answers for an event first, and then for its group', async () => {
    const [first, second] = two();
    await store().admit(second);
    await store().complete(second.key!, second.token);
    await store().admit(first);
    const duplicate = claim(second.key, { group: first.group });
    expect(await store().admit(duplicate)).toEqual({ status: 'duplicate' });
    const busy = claim(first.key, { group: first.group });
    expect(await store().admit(busy)).toEqual({ status: 'in-progress' });
    // Neither of them took the group from its holder, or freed it.
    const third = claim(unique('event'), { group: first.group });
    expect(await store().admit(third)).toEqual(groupBusy);
    await store().complete(first.key!, first.token);
    expect(await store().admit(third)).toEqual(admitted);
  });

  it('answers for a busy group whatever was known of the webhook id before', async () => {
    const [first, second] = two();
    const old = claim(unique('event'));
    await store().admit(old);
    await advance(REMEMBER_MS + SLACK_MS);
    await store().admit(first);
    const reused = { ...second, webhookId: old.webhookId };
    expect(await store().admit(reused)).toEqual(groupBusy);
    await store().release(first.key!, first.token);
    expect(await store().admit(reused)).toEqual(admitted);
  });

  it('frees a group when its lease expires, and keeps it while the lease is extended', async () => {
    const [first, second] = two();
    await store().admit(first);
    for (let i = 0; i < 3; i++) {
      await advance(LEASE_MS - 10_000);
      // What a store deletes with so many claims is not the group, though its first lease is over.
      await Promise.all(Array.from({ length: 100 }, () => store().admit(claim(undefined))));
      expect(await store().admit(second)).toEqual(groupBusy);
      expect(await store().extend(first.key!, first.token, LEASE_MS)).toBe(true);
    }
    await advance(LEASE_MS + 15_000);
    expect(await store().admit(second)).toEqual(admitted);
    // The zombie does not free the group of its new owner.
    expect(await store().extend(first.key!, first.token, LEASE_MS)).toBe(false);
    expect(await store().complete(first.key!, first.token)).toBe(false);
    expect(await store().release(first.key!, first.token)).toBe(false);
    const again = claim(first.key, { group: first.group });
    expect(await store().admit(again)).toEqual(groupBusy);
    await store().release(second.key!, second.token);
    expect(await store().admit(again)).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('keeps groups apart, from each other, from events, and from claims without a group', async () => {
    const name = unique('group');
    const names = [name, `${name}:`, name.toUpperCase(), `{${name}}`, `${name}\0`, `${name}\n`];
    names.push(`${name}\ud800`, `${name}\udc00`, `sha256:${name}`, `${name}${'x'.repeat(4_000)}`);
    const held = names.map((group) => claim(unique('event'), { group }));
    held.push(claim(name), claim(unique('event')), claim(undefined));
    for (const one of held) expect(await store().admit(one)).toEqual(admitted);
    for (const group of names)
      expect(await store().admit(claim(unique('event'), { group }))).toEqual(groupBusy);
    for (const { key, token } of held)
      if (key !== undefined) expect(await store().complete(key, token)).toBe(true);
  });

  it('has one winner among 200 racing claims of 50 events of one group, again and again', async () => {
    const group = unique('group');
    const keys = Array.from({ length: 50 }, () => unique('event'));
    let claims = Array.from({ length: 200 }, (_, i) => claim(keys[i % 50], { group }));
    for (let done = 0; done < 5; done++) {
      const admissions = await Promise.all(
        claims.map((one, i) => connections()[i % connections().length]!.admit(one)),
      );
      const winners = claims.filter((_, i) => admissions[i]!.status === 'admitted');
      expect(winners).toHaveLength(1);
      const refused = new Set(admissions.map(({ status }) => status));
      for (const status of refused)
        expect(['admitted', 'group-busy', 'in-progress', 'duplicate']).toContain(status);
      expect(admissions.filter(({ status }) => status === 'duplicate')).toHaveLength(done * 3);
      const [{ key, token }] = winners as [(typeof claims)[number]];
      expect(await store().complete(key!, token)).toBe(true);
      claims = claims.filter((one) => one.token !== token);
    }
  });
}
