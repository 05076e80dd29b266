import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, REMEMBER_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

/** Replays, lost replies, and races. */
export function webhookIds({
  it,
  has,
  store,
  connections,
  claim,
  advance,
}: StoreTestContext): void {
  it('refuses a webhook id that it has seen, with or without a key, until replayUntil', async () => {
    for (const key of [undefined, unique('event')]) {
      const first = claim(key);
      const again = () => store().admit({ ...first, token: unique('token') });
      expect((await store().admit(first)).status).toBe('admitted');
      expect(await again()).toEqual({ status: 'replayed' });
      if (key !== undefined) expect(await store().release(key, first.token)).toBe(true);
      expect(await again()).toEqual({ status: 'replayed' });
      await advance(REMEMBER_MS - 2_000);
      expect(await again()).toEqual({ status: 'replayed' }); // which must not prolong it
      await advance(SLACK_MS + 2_000);
      const { webhookId } = first;
      expect((await store().admit({ ...claim(key), webhookId })).status).toBe('admitted');
      expect(await again()).toEqual({ status: 'replayed' }); // remembered anew
    }
  });

  it('admits a claim whose webhook id need not be remembered any more, as after a long wait', async () => {
    for (const replayUntil of [0, 1])
      for (const key of [undefined, unique('event')])
        expect(await store().admit(claim(key, { replayUntil }))).toEqual({
          status: 'admitted',
          attempt: 1,
        });
  });

  it('refuses a webhook id that it has seen, whatever the event and its group are', async () => {
    for (const first of [
      claim(undefined),
      claim(unique('event')),
      claim(unique('event'), { group: unique('group') }),
      claim(`tenant:acme:${unique('event')}`),
    ]) {
      const { webhookId } = first;
      expect((await store().admit(first)).status).toBe('admitted');
      const [key, group] = [unique('event'), unique('group')];
      for (const other of [
        claim(undefined, { webhookId }),
        claim(key, { webhookId }),
        claim(`tenant:globex:${unique('event')}`, { webhookId }),
        claim(key, { webhookId, group }),
        ...(first.key === undefined ? [] : [claim(first.key, { webhookId, group })]),
      ])
        for (const one of connections())
          expect(await one.admit(other)).toEqual({ status: 'replayed' });
      // The same token is the same claim, and who was refused holds neither the event nor its group.
      expect(await store().admit(first)).toEqual({ status: 'admitted', attempt: 1 });
      expect(await store().admit(claim(key, { group }))).toEqual({
        status: 'admitted',
        attempt: 1,
      });
    }
  });

  it('remembers the webhook ids of claims that it refused as well', async () => {
    const key = unique('event');
    const first = claim(key);
    await store().admit(first);
    const busy = claim(key);
    expect(await store().admit(busy)).toEqual({ status: 'in-progress' });
    await store().complete(key, first.token);
    const late = claim(key);
    expect(await store().admit(late)).toEqual({ status: 'duplicate' });
    for (const seen of [busy, late])
      expect(await store().admit({ ...seen, token: unique('token') })).toEqual({
        status: 'replayed',
      });
  });

  it('gives the same answer to a claim that is repeated with the same token, as after a lost reply', async () => {
    const keyless = claim(undefined);
    for (let i = 0; i < 2; i++)
      expect(await store().admit(keyless)).toEqual({ status: 'admitted', attempt: 1 });
    const key = unique('event');
    await store().admit(claim(key));
    await advance(LEASE_MS + 1);
    const lost = claim(key);
    for (let i = 0; i < 3; i++)
      expect(await store().admit(lost)).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
    await advance(LEASE_MS + 1);
    expect(await store().admit(lost)).toEqual({ status: 'admitted', attempt: 3 });
    expect(await store().complete(key, lost.token)).toBe(true);
    expect(await store().admit(lost)).toEqual({ status: 'duplicate' });
  });

  it('does not let a late repeat take the lease of a new owner', async () => {
    const key = unique('event');
    const lost = claim(key);
    await store().admit(lost);
    await advance(LEASE_MS + 1);
    const owner = claim(key);
    expect(await store().admit(owner)).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store().admit(lost)).toEqual({ status: 'in-progress' });
    expect(await store().complete(key, owner.token)).toBe(true);
  });

  it('has one winner among 200 racing claims of one event, each sent twice', async () => {
    const key = unique('event');
    const claims = Array.from({ length: 200 }, () => claim(key));
    const race = () =>
      Promise.all(claims.map((one, i) => connections()[i % connections().length]!.admit(one)));
    const [first, second] = await Promise.all([race(), race()]);
    expect(second).toEqual(first);
    const winners = claims.filter((_, i) => first[i]!.status === 'admitted');
    expect(winners).toHaveLength(1);
    expect(first.filter(({ status }) => status === 'in-progress')).toHaveLength(199);
    expect(await store().complete(key, winners[0]!.token)).toBe(true);
  });

  it('admits one of 50 racing deliveries of one webhook id', async () => {
    const event = unique('event');
    for (const keyOf of [() => undefined, () => event, () => unique('event')]) {
      const webhookId = unique('webhook');
      const admissions = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          connections()[i % connections().length]!.admit(claim(keyOf(), { webhookId })),
        ),
      );
      expect(admissions.filter(({ status }) => status === 'admitted')).toHaveLength(1);
      expect(admissions.filter(({ status }) => status === 'replayed')).toHaveLength(49);
    }
  });

  if (has('ping'))
    it('says that it answers', async () => {
      await store().ping!();
    });
}
