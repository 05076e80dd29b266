import { describe, expect, it, jest } from '@jest/globals';
import { redisStore } from '../src/index.ts';

const NEVER = 'The server gave a reply that the script never gives.';

/** A store whose rememberFor is 700,000 ms, on a server that replies so. */
function storeOn(reply: (keys: string[], args: string[]) => unknown) {
  const evalsha = jest.fn((_sha: string, keys: string[], args: string[]) =>
    Promise.resolve().then(() => reply(keys, args)),
  );
  const client = { evalsha, eval: () => Promise.resolve('') };
  const store = redisStore(client, { prefix: 'p', rememberFor: 700_000 });
  const release = (key: string, token = 'token') => store.release(key, token);
  /** How many keys each script had. */
  const sizes = () => evalsha.mock.calls.map(([, keys]) => keys.length);
  return { release, sizes, evalsha };
}
const one = (keys: string[]) => keys.map(() => 1);

describe('the calls of one turn of the event loop', () => {
  it('are one script, and each call gets its own reply', async () => {
    const { release, evalsha } = storeOn(() => [1, 0]);
    expect(await Promise.all([release('a', 't1'), release('b', 't2')])).toEqual([true, false]);
    expect(evalsha.mock.calls).toEqual([
      [expect.any(String), ['p:{a}:event', 'p:{b}:event'], ['700000', 'release\nt1\nrelease\nt2']],
    ]);
  });

  it('are several scripts if there are more than 16', async () => {
    const { release, sizes } = storeOn(one);
    await Promise.all(Array.from({ length: 40 }, (_, index) => release(String(index))));
    expect(sizes()).toEqual([16, 16, 8]);
  });

  it('fail alone where the script says that a call failed', async () => {
    const { release } = storeOn(() => [1, '!ERR wrong type', 1]);
    const settled = await Promise.allSettled([release('a'), release('b'), release('c')]);
    expect(settled).toMatchObject([
      { value: true },
      { reason: new Error('ERR wrong type') },
      { value: true },
    ]);
  });

  it('fail together if the script fails, and are not tried again', async () => {
    const { release, evalsha } = storeOn(() => Promise.reject(new Error('READONLY')));
    const settled = await Promise.allSettled([release('a'), release('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: new Error('READONLY') });
    expect(evalsha).toHaveBeenCalledTimes(1);
  });

  it.each<[string, unknown]>([
    ['no list', 'OK'],
    ['too few replies', [1]],
    ['too many replies', [1, 1, 1]],
  ])('fail if the server gives %s', async (_name, reply) => {
    const { release } = storeOn(() => reply);
    const settled = await Promise.allSettled([release('a'), release('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: new Error(NEVER) });
  });
});

describe('on a cluster, which runs no script over several slots', () => {
  const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";
  const clusterStore = (message = CROSSSLOT, reply = one) =>
    storeOn((keys) => {
      if (new Set(keys).size > 1) throw new Error(message);
      return reply(keys);
    });

  // valkey-glide writes the error in another way.
  it.each([CROSSSLOT, 'An error was signalled: CrossSlot: no'])(
    'calls are made again, a script for each, and so from then on: %s',
    async (message) => {
      const { release, sizes } = clusterStore(message);
      const turn = () => Promise.all([release('a'), release('b'), release('a')]);
      expect(await turn()).toEqual([true, true, true]);
      expect(sizes()).toEqual([3, 1, 1, 1]);
      await turn();
      expect(sizes()).toEqual([3, 1, 1, 1, 1, 1, 1]);
    },
  );

  it('a call that fails fails alone', async () => {
    const { release } = clusterStore(CROSSSLOT, (keys) => {
      if (keys.includes('p:{b}:event')) throw new Error('CLUSTERDOWN');
      return one(keys);
    });
    for (let turn = 0; turn < 2; turn++)
      expect(await Promise.allSettled([release('a'), release('b')])).toMatchObject([
        { value: true },
        { reason: new Error('CLUSTERDOWN') },
      ]);
  });

  it('only an error says so', async () => {
    const { release, evalsha } = storeOn(
      jest.fn<() => Promise<unknown>>().mockRejectedValue('CROSSSLOT'),
    );
    const settled = await Promise.allSettled([release('a'), release('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: 'CROSSSLOT' });
    expect(evalsha).toHaveBeenCalledTimes(1);
  });
});
