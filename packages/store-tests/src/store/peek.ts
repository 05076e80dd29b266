import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { LEASE_MS, type StoreTestContext } from './under-test.ts';

/** The states of events, without a claim. */
export function peek({ it, has, store, connections, claim, advance }: StoreTestContext): void {
  /** A new event, and the token that holds its lease. */
  async function running(key = unique('event')) {
    const { token } = claim(key);
    expect(await store().admit(claim(key, { token }))).toMatchObject({ status: 'admitted' });
    return { key, token };
  }
  const stateOf = async (key: string) => (await store().peek!([key]))[0];

  it('tells the states of events apart, in the order of the keys, on every connection', async () => {
    const [handled, leased, failed, givenUp] = await Promise.all(
      Array.from({ length: 4 }, () => running()),
    );
    await store().complete(handled!.key, handled!.token);
    await store().release(failed!.key, failed!.token);
    await store().complete(givenUp!.key, givenUp!.token, 'dead-lettered');
    const unknown = unique('event');
    const keys = [handled!, leased!, failed!, givenUp!].map(({ key }) => key);
    for (const one of connections()) {
      const states = ['handled', 'running', 'failed', 'dead-lettered'];
      expect(await one.peek!([...keys, unknown])).toEqual([...states, undefined]);
      expect(await one.peek!([unknown, ...keys.reverse(), unknown])).toEqual([
        ...[undefined, ...states.reverse(), undefined],
      ]);
      keys.reverse();
    }
  });

  it('says that an event has failed once its lease has expired, and is running once it is admitted again', async () => {
    const { key } = await running();
    await advance(LEASE_MS + 1);
    expect(await stateOf(key)).toBe('failed');
    await running(key);
    expect(await stateOf(key)).toBe('running');
  });

  if (has('reopen'))
    it('knows nothing of an event that was reopened', async () => {
      const { key, token } = await running();
      await store().complete(key, token, 'dead-lettered');
      await store().reopen!(key);
      expect(await stateOf(key)).toBeUndefined();
      await running(key);
      expect(await stateOf(key)).toBe('running');
    });

  it('changes nothing when it peeks', async () => {
    const unknown = unique('event');
    const failed = await running();
    await store().release(failed.key, failed.token);
    const leased = await running();
    await store().peek!([unknown, failed.key, leased.key]);
    expect(await store().admit(claim(unknown))).toEqual({ status: 'admitted', attempt: 1 });
    expect(await store().admit(claim(failed.key))).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store().complete(leased.key, leased.token)).toBe(true);
  });

  it('peeks at no keys, at 500 keys, and at keys that no database stores unchanged', async () => {
    expect(await store().peek!([])).toEqual([]);
    const { key, token } = await running(`${unique('event')}'; -- \\ $1 ?\0\ud800\n{}`);
    await store().complete(key, token);
    const others = Array.from({ length: 499 }, () => unique('event'));
    const states = await store().peek!([...others, key]);
    expect(states).toHaveLength(500);
    expect(states.filter(Boolean)).toEqual(['handled']);
    expect(states[499]).toBe('handled');
  });

  it('tells events apart from cursors, webhook ids and groups of the same name', async () => {
    const name = unique('event');
    await store().saveCursor?.(name, 'here');
    await store().admit(claim(undefined, { webhookId: name }));
    await store().admit(claim(unique('event'), { group: name }));
    expect(await stateOf(name)).toBeUndefined();
  });
}
