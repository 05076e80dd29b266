import { describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import type { Claim } from '@call-webhooks/core/stores';
import { AskOnce } from '../src/ask-once.ts';
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

const [ID, EVENT, GROUP] = ['p:{w}:id', 'p:{e}:event', 'p:{g}:group'];
const CLAIM = { webhookId: 'w', key: 'e', token: 'token', leaseMs: 60_000, replayUntil: 1_000 };
const ADMITTED = { status: 'admitted', attempt: 1 };
const TAKE = [GROUP, 'takeGroup', 'token', '70000'];
const FREE = [GROUP, 'freeGroup', 'token'];
const EXTEND = [GROUP, 'extendGroup', 'token', '70000'];
const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";

/**
 * A store on a cluster that has each key in a slot of its own. Each call for a key gets its next reply,
 * or 1; a reply that is an error is thrown.
 */
function clusterStore(replies: Record<string, unknown[]> = {}, refusal = CROSSSLOT) {
  const calls: string[][] = [];
  const evalsha = jest.fn(async (_sha: string, keys: string[], args: string[]) => {
    const [name, ...rest] = args[1]!.split('\n') as [string, ...string[]];
    calls.push([...keys, name, ...(keys[0] === GROUP ? rest : [])]);
    if (keys.length > 1) throw new Error(refusal);
    const reply = replies[keys[0]!]?.shift() ?? 1;
    if (reply instanceof Error) throw reply;
    return [reply];
  });
  const client = { evalsha, eval: () => Promise.resolve('') };
  const store = redisStore(client, { prefix: 'p' });
  const admit = (more: Partial<Claim> = {}) => store.admit({ ...CLAIM, ...more });
  return { store, admit, calls };
}

describe('a claim on a cluster, which has the webhook id and the event in two slots', () => {
  const REMEMBER = [ID, 'remember'];
  const ADMIT = [EVENT, 'admit'];

  it('remembers the id first, and so from then on', async () => {
    const { admit, calls } = clusterStore();
    expect(await admit()).toEqual(ADMITTED);
    expect(calls).toEqual([[ID, EVENT, 'claim'], REMEMBER, ADMIT]);
    expect(await admit()).toEqual(ADMITTED);
    expect(calls.slice(3)).toEqual([REMEMBER, ADMIT]);
  });

  it('does not touch the event of a webhook id that was seen', async () => {
    const { admit, calls } = clusterStore({ [ID]: [-2] });
    expect(await admit({ group: 'g' })).toEqual({ status: 'replayed' });
    expect(calls.slice(1)).toEqual([REMEMBER]);
  });

  it('fails if a step fails, and may be repeated', async () => {
    const down = new Error('CLUSTERDOWN');
    const { admit, calls } = clusterStore({ [ID]: [down, 1, 1], [EVENT]: [down, 1] });
    await expect(admit()).rejects.toThrow(down);
    await expect(admit()).rejects.toThrow(down);
    expect(await admit()).toEqual(ADMITTED);
    expect(calls.slice(1)).toEqual([REMEMBER, REMEMBER, ADMIT, REMEMBER, ADMIT]);
  });

  it('fails if the server gives a reply that the script never gives', async () => {
    const { admit, calls } = clusterStore({ [ID]: ['OK'] });
    await expect(admit()).rejects.toThrow('never gives');
    expect(calls.slice(1)).toEqual([REMEMBER]);
  });
});

describe('a group on a cluster, which has it in another slot than its event', () => {
  const calledAfterId = (calls: string[][]) => calls.slice(2);

  it('is leased before the event, and for 10 s longer', async () => {
    const { admit, calls } = clusterStore();
    expect(await admit({ group: 'g' })).toEqual(ADMITTED);
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit']]);
  });

  it('may be out of reach although the id and the event share a slot', async () => {
    const { admit, calls } = clusterStore({}, 'ERR Script attempted to access a non local key');
    expect(await admit({ group: 'g' })).toEqual(ADMITTED);
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit']]);
  });

  it('is left to its holder, and the event is told so', async () => {
    const { admit, calls } = clusterStore({ [GROUP]: [0], [EVENT]: [-4] });
    expect(await admit({ group: 'g' })).toEqual({ status: 'group-busy' });
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit']]);
  });

  it.each([
    [0, 'duplicate'],
    [-1, 'in-progress'],
  ])('is freed if the event is not admitted: %d', async (reply, status) => {
    const { admit, calls } = clusterStore({ [EVENT]: [reply] });
    expect(await admit({ group: 'g' })).toEqual({ status });
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit'], FREE]);
  });

  it('is freed if the call for the event fails', async () => {
    const { admit, calls } = clusterStore({ [EVENT]: [new Error('down')] });
    await expect(admit({ group: 'g' })).rejects.toThrow('down');
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit'], FREE]);
  });

  it('is freed and extended by the name that the script of the event gives', async () => {
    const { store, calls } = clusterStore({ [EVENT]: [GROUP, GROUP, GROUP] });
    expect(await store.complete('e', 'token')).toBe(true);
    expect(await store.release('e', 'token')).toBe(true);
    expect(await store.extend('e', 'token', 60_000)).toBe(true);
    expect(calls.filter(([key]) => key === GROUP)).toEqual([FREE, FREE, EXTEND]);
  });

  it('that can not be freed runs out: the event is settled all the same', async () => {
    const { store } = clusterStore({ [EVENT]: [GROUP, GROUP], [GROUP]: [0, new Error('down')] });
    expect(await store.complete('e', 'token')).toBe(true);
    expect(await store.complete('e', 'token')).toBe(true);
  });

  it('that is not held any more can not be extended', async () => {
    const { store } = clusterStore({ [EVENT]: [GROUP, GROUP], [GROUP]: [0, new Error('down')] });
    expect(await store.extend('e', 'token', 60_000)).toBe(false);
    await expect(store.extend('e', 'token', 60_000)).rejects.toThrow('down');
  });

  it.each(['1', '0'])('is not meant by a reply of a text: %s', async (reply) => {
    const { store, calls } = clusterStore({ [EVENT]: [reply, reply] });
    expect(await store.complete('e', 'token')).toBe(reply === '1');
    expect(await store.extend('e', 'token', 60_000)).toBe(reply === '1');
    expect(calls.filter(([key]) => key === GROUP)).toEqual([]);
  });
});

/** Lets promises that are settled run their callbacks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a question to the server', () => {
  it('is not asked before the first check, and not twice while it waits for its answer', async () => {
    const answer = deferred();
    const ask = jest.fn(() => answer.promise);
    const question = new AskOnce(ask);
    expect(ask).not.toHaveBeenCalled();
    question.check();
    question.check();
    expect(ask).toHaveBeenCalledTimes(1);
    answer.resolve();
    await settled();
    question.check();
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('is asked again after it failed, until there is an answer', async () => {
    const ask = jest.fn(() => Promise.resolve());
    ask.mockRejectedValueOnce(new Error('down')).mockRejectedValueOnce(new Error('down'));
    const question = new AskOnce(ask);
    for (let i = 0; i < 5; i++) {
      question.check();
      await settled();
    }
    expect(ask).toHaveBeenCalledTimes(3);
  });
});

/** A store with the prefix `p`, and the keys that its server is asked for. */
function storeWithKeys() {
  const evalsha = jest.fn((_sha: string, _keys: string[]) => Promise.resolve([1]));
  const store = redisStore({ evalsha, eval: () => Promise.resolve('') }, { prefix: 'p' });
  return { store, asked: () => evalsha.mock.calls.flatMap(([, keys]) => keys) };
}

describe('the keys of a store', () => {
  it('are of the webhook id, whatever its event is, and of the event, whatever its group is', async () => {
    const { store, asked } = storeWithKeys();
    const claim = { webhookId: 'w', token: 't', replayUntil: 1, leaseMs: 1 };
    await store.admit(claim);
    await store.admit({ ...claim, key: 'a' });
    await store.admit({ ...claim, key: 'a', group: 'b' });
    expect(asked()).toEqual([
      'p:{w}:id',
      ...['p:{w}:id', 'p:{a}:event', 'p:{w}:id', 'p:{a}:event'],
    ]);
  });

  it.each(['call-1:call:completed', 'a', 'A_b.c:d-9', 'x'.repeat(80)])(
    'are readable: %s',
    async (key) => {
      const { store, asked } = storeWithKeys();
      await store.release(key, 'token');
      expect(asked()).toEqual([`p:{${key}}:event`]);
    },
  );

  it.each(['', 'x'.repeat(81), 'a b', 'a}b', '{a}', 'é', 'a\n', '\nx', 'sha256:a'])(
    'have a hash of what redis-cli would not show, or a cluster would take for a hash tag: %j',
    async (key) => {
      const { store, asked } = storeWithKeys();
      await store.release(key, 'token');
      expect(asked()).toEqual([expect.stringMatching(/^p:\{sha256:[0-9a-f]{64}\}:event$/)]);
    },
  );
});

describe('the prefix of a store', () => {
  const some = () => Promise.resolve([1]);
  const withPrefix = (prefix: string) => () =>
    redisStore({ evalsha: some, eval: some }, { prefix });

  it.each(['a', 'x'.repeat(200), 'team:calls', 'é', '😀'.repeat(200)])('may be %s', (prefix) => {
    expect(withPrefix(prefix)).not.toThrow();
  });

  it.each(['', 'x'.repeat(201), 'a{b', 'a}b', 'a\0', '\ud800'])('may not be %j', (prefix) => {
    expect(withPrefix(prefix)).toThrow('expected 1 to 200 characters without { and }');
  });
});
