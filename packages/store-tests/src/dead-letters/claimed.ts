import expect from '../../expect.cjs';
import { deadLetterId } from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import { after, deadLetter, LEASE_MS, type DeadLettersTestContext } from './under-test.ts';

/** Claims: one redrive at a time has a letter. */
export function claimed({ it, letters, connections, advance }: DeadLettersTestContext): void {
  async function newLetter() {
    const letter = deadLetter();
    await letters().put(letter);
    return { letter, id: await deadLetterId(letter) };
  }
  const claim = (token: string, leaseMs = LEASE_MS) => ({ token, leaseMs });
  const failure = { at: after(9_000), source: 'redrive', attempt: 4, error: 'Error: no' } as const;

  it('gives a letter to one of 20 racing claims, and takes a repeated claim as one', async () => {
    const { id } = await newLetter();
    const tokens = Array.from({ length: 20 }, () => unique('token'));
    const race = () =>
      Promise.all(
        tokens.map((token, index) =>
          connections()[index % connections().length]!.claim(id, claim(token)),
        ),
      );
    const first = await race();
    const winner = first.findIndex((letter) => letter !== undefined);
    expect(first.filter((letter) => letter !== undefined)).toHaveLength(1);
    expect((await race()).map((letter) => letter !== undefined)).toEqual(
      tokens.map((_, index) => index === winner),
    );
    expect((await letters().get(id))!.claimedUntil).toBeInstanceOf(Date);
    expect(await letters().settle(id, tokens[winner]!)).toBe(true);
  });

  it('keeps a letter that is given back, with its new failure if there is one', async () => {
    const { id, letter } = await newLetter();
    const before = await letters().get(id);
    await letters().claim(id, claim('first'));
    expect(await letters().giveBack(id, 'first')).toBe(true);
    expect(await letters().get(id)).toEqual(before);

    await letters().claim(id, claim('second'));
    expect(await letters().giveBack(id, 'second', failure)).toBe(true);
    expect(await letters().get(id)).toEqual({
      ...before,
      failedAt: failure.at,
      source: 'redrive',
      attempt: 4,
      error: 'Error: no',
      history: [...before!.history, failure],
    });
    // Two facts: since when it is a dead letter, and when it failed last, by which it is listed.
    const { history, failedAt } = (await letters().get(id))!;
    expect([history[0]!.at, failedAt]).toEqual([letter.failedAt, failure.at]);
    const idsOf = async (period: { since?: Date; until?: Date }) => {
      const page = await letters().list({ eventName: letter.eventName, ...period });
      return page.letters.map((one) => one.id);
    };
    expect(await idsOf({ since: after(9_000), until: after(9_001) })).toContain(id);
    expect(await idsOf({ until: after(9_000) })).not.toContain(id);
    expect(await letters().claim(id, claim('third'))).toBeDefined();
  });

  it('fences a claim that has expired, before and after another claim', async () => {
    const { id } = await newLetter();
    await letters().claim(id, claim('zombie'));
    await advance(LEASE_MS + 1);
    const refused = async () => {
      expect(await letters().extend(id, 'zombie', LEASE_MS)).toBe(false);
      expect(await letters().giveBack(id, 'zombie', failure)).toBe(false);
      expect(await letters().settle(id, 'zombie')).toBe(false);
    };
    await refused();
    expect((await letters().get(id))!.claimedUntil).toBeUndefined();
    expect(await letters().claim(id, claim('owner'))).toBeDefined();
    await refused();
    expect((await letters().get(id))!.history).toHaveLength(1);
    expect(await letters().settle(id, 'owner')).toBe(true);
  });

  it('extends a claim from now on', async () => {
    const { id } = await newLetter();
    await letters().claim(id, claim('owner'));
    await advance(50_000);
    expect(await letters().extend(id, 'owner', LEASE_MS)).toBe(true);
    await advance(50_000);
    expect(await letters().claim(id, claim('other'))).toBeUndefined();
    expect(await letters().settle(id, 'owner')).toBe(true);
  });

  it('ends the claim on a letter whose event has failed again', async () => {
    const { id, letter } = await newLetter();
    await letters().claim(id, claim('owner'));
    await letters().put({ ...letter, failedAt: after(5_000), source: 'redrive' });
    expect(await letters().giveBack(id, 'owner', failure)).toBe(false);
    expect(await letters().settle(id, 'owner')).toBe(false);
    expect((await letters().get(id))!.history).toHaveLength(2);
    expect(await letters().claim(id, claim('other'))).toBeDefined();
  });

  it('removes a letter that is settled, and claims nothing that is not there', async () => {
    const { id, letter } = await newLetter();
    const token = unique('token');
    expect(await letters().settle(id, token)).toBe(false);
    expect(await letters().giveBack(id, token)).toBe(false);
    expect(await letters().extend(id, token, LEASE_MS)).toBe(false);
    expect(await letters().claim(id, claim(token))).toMatchObject({ id, key: letter.key });
    expect(await letters().settle(id, token)).toBe(true);
    expect(await letters().get(id)).toBeUndefined();
    expect(await letters().settle(id, token)).toBe(false);
    expect(await letters().claim(id, claim(token))).toBeUndefined();
  });
}
