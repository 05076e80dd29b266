import { describe, expect, it, jest } from '@jest/globals';
import { EventCalls } from '../src/event-calls.ts';

const NEVER = 'The server gave a reply that the script never gives.';

/** The calls of a store whose rememberFor is 700,000 ms, on a server that replies so. */
function callsOn(reply: (keys: string[], args: string[]) => unknown) {
  const evalsha = jest.fn((_sha: string, keys: string[], args: string[]) =>
    Promise.resolve().then(() => reply(keys, args)),
  );
  const calls = new EventCalls({ evalsha, eval: evalsha }, 700_000);
  const run = (slot: string, args: string[] = ['token']) =>
    calls.run('release', slot, [`${slot}:event`], args, (reply) => `read ${String(reply)}`);
  /** How many keys each script had. */
  const sizes = () => evalsha.mock.calls.map(([, keys]) => keys.length);
  return { run, sizes, evalsha };
}
const one = (keys: string[]) => keys.map(() => 1);
const crossSlot = () => {
  throw new Error("CROSSSLOT Keys in request don't hash to the same slot");
};
/** As a cluster: it refuses what spans slots. */
const cluster = (keys: string[]) => (new Set(keys).size > 1 ? crossSlot() : one(keys));

describe('the calls of one turn of the event loop', () => {
  it('are one script, and each call gets its own reply', async () => {
    const { run, evalsha } = callsOn((keys) => keys.map((key) => `of ${key}`));
    expect(await Promise.all([run('a', ['t1']), run('b', ['t2'])])).toEqual([
      ...['read of a:event', 'read of b:event'],
    ]);
    expect(evalsha.mock.calls).toEqual([
      [expect.any(String), ['a:event', 'b:event'], ['700000', 'release\nt1\nrelease\nt2']],
    ]);
  });

  it('are several scripts if there are more than 16', async () => {
    const { run, sizes } = callsOn(one);
    await Promise.all(Array.from({ length: 40 }, (_, index) => run(String(index))));
    expect(sizes()).toEqual([16, 16, 8]);
  });

  it('fail alone where the script says that a call failed', async () => {
    const { run } = callsOn(() => [1, '!ERR wrong type', 1]);
    const settled = await Promise.allSettled([run('a'), run('b'), run('c')]);
    expect(settled).toMatchObject([
      { value: 'read 1' },
      { reason: new Error('ERR wrong type') },
      { value: 'read 1' },
    ]);
  });

  it('fail together if the script fails, and are not tried again', async () => {
    const { run, evalsha } = callsOn(() => Promise.reject(new Error('READONLY')));
    const settled = await Promise.allSettled([run('a'), run('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: new Error('READONLY') });
    expect(evalsha).toHaveBeenCalledTimes(1);
  });

  it.each<[string, unknown]>([
    ['no list', 'OK'],
    ['too few replies', [1]],
    ['too many replies', [1, 1, 1]],
  ])('fail if the server gives %s', async (_name, reply) => {
    const { run } = callsOn(() => reply);
    const settled = await Promise.allSettled([run('a'), run('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: new Error(NEVER) });
  });
});

describe('on a cluster, which runs no script over several slots', () => {
  it('calls are made again, a script for each slot, and so from then on', async () => {
    const { run, sizes } = callsOn(cluster);
    const turn = () => Promise.all([run('a'), run('b'), run('a')]);
    expect(await turn()).toEqual(['read 1', 'read 1', 'read 1']);
    expect(sizes()).toEqual([3, 2, 1]);
    await turn();
    expect(sizes()).toEqual([3, 2, 1, 2, 1]);
  });

  it('a slot that fails fails alone', async () => {
    const { run } = callsOn((keys) => {
      if (new Set(keys).size > 1) crossSlot();
      if (keys.includes('b:event')) throw new Error('CLUSTERDOWN');
      return one(keys);
    });
    for (let turn = 0; turn < 2; turn++) {
      const settled = await Promise.allSettled([run('a'), run('b'), run('b')]);
      expect(settled).toMatchObject([
        { value: 'read 1' },
        { reason: new Error('CLUSTERDOWN') },
        { reason: new Error('CLUSTERDOWN') },
      ]);
    }
  });

  it('valkey-glide writes the error in another way', async () => {
    const { run } = callsOn((keys) => {
      if (new Set(keys).size > 1) throw new Error('An error was signalled: CrossSlot: no');
      return one(keys);
    });
    expect(await Promise.all([run('a'), run('b')])).toEqual(['read 1', 'read 1']);
  });

  it('only an error says so', async () => {
    const { run, evalsha } = callsOn(
      jest.fn<() => Promise<unknown>>().mockRejectedValue('CROSSSLOT'),
    );
    const settled = await Promise.allSettled([run('a'), run('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: 'CROSSSLOT' });
    expect(evalsha).toHaveBeenCalledTimes(1);
  });
});
