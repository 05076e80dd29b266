import { describe, expect, it, jest } from '@jest/globals';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import type { Claim } from '@call-webhooks/core/stores';
import { redisStore, type RedisClient } from '../src/index.ts';

type Evaluate = (sha: string, keys: string[], args: string[]) => Promise<unknown>;

/** A client whose server does not say how it keeps things. */
const clientWith = (evalsha: Evaluate) => ({
  evalsha: ((sha, keys, args) =>
    keys.length === 0 ? Promise.resolve('=') : evalsha(sha, keys, args)) satisfies Evaluate,
  eval: () => Promise.resolve('='),
});

/** A store whose rememberFor is 700,000 ms, on a server that replies so. */
function storeOn(reply: (keys: string[]) => unknown) {
  const evalsha = jest.fn((_sha: string, keys: string[], _args: string[]) =>
    Promise.resolve().then(() => reply(keys)),
  );
  const client = clientWith(evalsha);
  const store = redisStore(client, { prefix: 'p', rememberFor: 700_000 });
  const release = (key: string, token = 'token') => store.release(key, token);
  /** How many keys each script had. */
  const sizes = () => evalsha.mock.calls.map(([, keys]) => keys.length);
  return { store, release, sizes, evalsha };
}
const one = (keys: string[]) => `=${JSON.stringify(keys.map(() => 1))}`;

describe('the calls of one turn of the event loop', () => {
  it('are one script, and each call gets its own reply', async () => {
    const { release, evalsha } = storeOn(() => '=[1,0]');
    expect(await Promise.all([release('a', 't1'), release('b', 't2')])).toEqual([true, false]);
    expect(evalsha.mock.calls).toEqual([
      [
        expect.any(String),
        ['p:{a}:event', 'p:{b}:event'],
        ['700000', '[["release","t1"],["release","t2"]]', 'together'],
      ],
    ]);
  });

  it('are several scripts if there are more than 16', async () => {
    const { release, sizes } = storeOn(one);
    await Promise.all(Array.from({ length: 40 }, (_, index) => release(String(index))));
    expect(sizes()).toEqual([16, 16, 8]);
  });

  it('fail alone where the script says that a call failed', async () => {
    const { release } = storeOn(() => '=[1,["ERR wrong type"],1]');
    const settled = await Promise.allSettled([release('a'), release('b'), release('c')]);
    expect(settled).toMatchObject([
      { value: true },
      { reason: new Error('ERR wrong type') },
      { value: true },
    ]);
  });

  it('fail together if the script fails, and are not tried again', async () => {
    const { release, evalsha } = storeOn(() => Promise.reject(new Error('OOM')));
    const settled = await Promise.allSettled([release('a'), release('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: new Error('OOM') });
    expect(evalsha).toHaveBeenCalledTimes(1);
  });

  it.each(['=[1]', '=[1,1,1]', '={}', '=null'])(
    'fail if there are too few or too many replies: %j',
    async (reply) => {
      const { release } = storeOn(() => reply);
      const settled = await Promise.allSettled([release('a'), release('b')]);
      for (const each of settled)
        expect(String((each as PromiseRejectedResult).reason)).toContain(
          'that the script cannot return',
        );
    },
  );
});

describe('in front of a cluster, a proxy refuses scripts over several slots', () => {
  const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";
  const behindProxy = (message: unknown = new Error(CROSSSLOT), reply = one) =>
    storeOn((keys) => {
      if (new Set(keys).size > 1) throw message as Error;
      return reply(keys);
    });

  // valkey-glide writes the error in another way.
  it.each([
    CROSSSLOT,
    'An error was signalled: CrossSlot: no',
    'ERR Script attempted to access a non local key',
  ])('calls are made again, a script for each, and so from then on: %s', async (message) => {
    const { release, sizes } = behindProxy(new Error(message));
    const turn = () => Promise.all([release('a'), release('b'), release('a')]);
    // Of two scripts on their way at once, each is refused.
    expect(await Promise.all([turn(), Promise.resolve().then(turn)])).toEqual(
      [1, 2].map(() => [true, true, true]),
    );
    const before = sizes().length;
    expect(sizes().filter((size) => size === 1)).toHaveLength(6);
    await turn();
    expect(sizes().slice(before)).toEqual([1, 1, 1]);
  });

  it('a call that fails fails alone', async () => {
    const { release } = behindProxy(new Error(CROSSSLOT), (keys) => {
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
    const { release, evalsha } = behindProxy('CROSSSLOT');
    const settled = await Promise.allSettled([release('a'), release('b')]);
    for (const each of settled) expect(each).toMatchObject({ reason: 'CROSSSLOT' });
    expect(evalsha).toHaveBeenCalledTimes(1);
  });
});

const [ID, EVENT, GROUP] = ['p:{w}:id', 'p:{e}:event', 'p:{g}:group'];
const CLAIM = { webhookId: 'w', key: 'e', token: 'token', leaseMs: 60_000, replayUntil: 1_000 };
const ADMITTED = { status: 'admitted', attempt: 1 };
const REMEMBER = [ID, 'remember'];
const ADMIT = [EVENT, 'admit'];
const TAKE = [GROUP, 'takeGroup', 'token', 70_000];
const FREE = [GROUP, 'freeGroup', 'token'];
const EXTEND = [GROUP, 'extendGroup', 'token', 70_000];

/**
 * A store over a client of a cluster. Each call for a key gets its next reply, or 1; a reply that is an
 * error is thrown.
 */
function clusterStore(replies: Record<string, (number | string | Error)[]> = {}) {
  const calls: unknown[][] = [];
  const customCommand = async ([, , count, ...rest]: string[]) => {
    if (count === '0') return '=';
    expect(count).toBe('1');
    const [key, , call, apart] = rest as [string, string, string, string];
    expect(apart).toBe('apart');
    const [[name, ...args]] = JSON.parse(call) as [[string, ...unknown[]]];
    calls.push([key, name, ...(key === GROUP ? args : [])]);
    const reply = replies[key]?.shift() ?? 1;
    if (reply instanceof Error) throw reply;
    return `=${JSON.stringify([reply])}`;
  };
  const client = { customCommand, invokeScriptWithRoute: () => undefined }; // a GlideClusterClient
  const store = redisStore(client, { prefix: 'p' });
  const admit = (more: Partial<Claim> = {}) => store.admit({ ...CLAIM, ...more });
  return { store, admit, calls };
}

describe('a claim on a cluster, which has the webhook id and the event in two slots', () => {
  it('remembers the id first', async () => {
    const { admit, calls } = clusterStore();
    expect(await admit()).toEqual(ADMITTED);
    expect(calls).toEqual([REMEMBER, ADMIT]);
  });

  it('does not touch the event of a webhook id that was seen', async () => {
    const { admit, calls } = clusterStore({ [ID]: ['replayed'] });
    expect(await admit({ group: 'g' })).toEqual({ status: 'replayed' });
    expect(calls).toEqual([REMEMBER]);
  });

  it('fails if a step fails, and may be repeated', async () => {
    const down = new Error('CLUSTERDOWN');
    const { admit, calls } = clusterStore({ [ID]: [down, 1, 1], [EVENT]: [down, 1] });
    await expect(admit()).rejects.toThrow(down);
    await expect(admit()).rejects.toThrow(down);
    expect(await admit()).toEqual(ADMITTED);
    expect(calls).toEqual([REMEMBER, REMEMBER, ADMIT, REMEMBER, ADMIT]);
  });

  it.each<[string, object]>([
    [
      'evalsha',
      new Cluster(['127.0.0.1'], { lazyConnect: true, redisOptions: { socketTimeout: 60_000 } }),
    ],
    ['evalSha', createCluster({ rootNodes: [] })],
  ])('is sent by slot from the first one on, with %s', async (name, client) => {
    const keys: unknown[] = [];
    const evaluate = (_script: string, ...rest: unknown[]) => {
      const [first] = rest as [number | { keys: string[] }];
      const count = typeof first === 'number' ? first : first.keys.length;
      if (count > 0) keys.push(count);
      return Promise.resolve(count === 0 ? '=' : '=[1]');
    };
    Object.assign(client, { [name]: evaluate, eval: evaluate });
    expect(await redisStore(client as RedisClient).admit(CLAIM)).toEqual(ADMITTED);
    expect(keys).toEqual([1, 1]);
  });
});

/** The slot of a key with a tag in braces, as the specification of Redis Cluster has it: CRC-16/XMODEM. */
function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(/\{(.*?)\}/.exec(key)?.[1] ?? '')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
  }
  return (crc & 0xffff) % 16_384;
}

it('the ping of a cluster writes in each sixteenth of its slots', async () => {
  expect(slotOf('{123456789}')).toBe(0x31c3);
  const keys: string[] = [];
  const customCommand = ([, , count, ...rest]: string[]) => {
    keys.push(...rest.slice(0, Number(count)));
    return Promise.resolve('=[1]');
  };
  const client = { customCommand, invokeScriptWithRoute: () => undefined };
  await redisStore(client).ping!();
  const written = new Set(keys.map((key) => slotOf(key) >> 10));
  expect([...written].sort((one, other) => one - other)).toEqual(
    Array.from({ length: 16 }, (_, part) => part),
  );
});

it.each([0, 1, 2, 3, 4, 5])(
  'the ping fails if the server refuses its write %d alone',
  async (at) => {
    const replies = Array.from({ length: 6 }, (_, index) => (index === at ? ['OOM full'] : 1));
    const { store } = storeOn(() => `=${JSON.stringify(replies)}`);
    await expect(store.ping!()).rejects.toThrow('OOM full');
  },
);

describe('a group on a cluster, which has it in another slot than its event', () => {
  it('is leased before the event, and for 10 s longer', async () => {
    const { admit, calls } = clusterStore();
    expect(await admit({ group: 'g' })).toEqual(ADMITTED);
    expect(calls).toEqual([REMEMBER, TAKE, ADMIT]);
  });

  it('is left to its holder, and the event is told so', async () => {
    const { admit, calls } = clusterStore({ [GROUP]: [0], [EVENT]: ['group-busy'] });
    expect(await admit({ group: 'g' })).toEqual({ status: 'group-busy' });
    expect(calls).toEqual([REMEMBER, TAKE, ADMIT]);
  });

  it.each(['duplicate', 'in-progress'])('is freed if the event is %s', async (status) => {
    const { admit, calls } = clusterStore({ [EVENT]: [status] });
    expect(await admit({ group: 'g' })).toEqual({ status });
    expect(calls).toEqual([REMEMBER, TAKE, ADMIT, FREE]);
  });

  it('is freed if the call for the event fails', async () => {
    const { admit, calls } = clusterStore({ [EVENT]: [new Error('down')] });
    await expect(admit({ group: 'g' })).rejects.toThrow('down');
    expect(calls).toEqual([REMEMBER, TAKE, ADMIT, FREE]);
  });

  it('is freed and extended by the name that the script of the event gives', async () => {
    const { store, calls } = clusterStore({ [EVENT]: [GROUP, GROUP, GROUP] });
    expect(await store.complete('e', 'token')).toBe(true);
    expect(await store.release('e', 'token')).toBe(true);
    expect(await store.extend('e', 'token', 60_000)).toBe(true);
    expect(calls.filter(([key]) => key === GROUP)).toEqual([FREE, FREE, EXTEND]);
  });

  it('that can not be freed runs out: the event is settled all the same', async () => {
    const { store } = clusterStore({ [EVENT]: [GROUP], [GROUP]: [new Error('down')] });
    expect(await store.complete('e', 'token')).toBe(true);
  });

  it('that is not held any more can not be extended', async () => {
    const { store } = clusterStore({ [EVENT]: [GROUP, GROUP], [GROUP]: [0, new Error('down')] });
    expect(await store.extend('e', 'token', 60_000)).toBe(false);
    await expect(store.extend('e', 'token', 60_000)).rejects.toThrow('down');
  });
});

/** A store with the prefix `p`, and the keys that its server is asked for. */
function storeWithKeys() {
  const evalsha = jest.fn((_sha: string, _keys: string[], _args: string[]) =>
    Promise.resolve('=[1]'),
  );
  const store = redisStore(clientWith(evalsha), { prefix: 'p' });
  const asked = () => evalsha.mock.calls.flatMap(([, keys]) => keys);
  return { store, asked };
}

describe('the keys of a store', () => {
  it('are of the webhook id, whatever its event is, and of the event, whatever its group is', async () => {
    const { store, asked } = storeWithKeys();
    await store.admit({ ...CLAIM, key: undefined });
    await store.admit({ ...CLAIM, key: 'a' });
    await store.admit({ ...CLAIM, key: 'a', group: 'b' });
    expect(asked()).toEqual([ID, 'p:{a}:event', ID, 'p:{a}:event', ID]);
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
  const some = () => Promise.resolve('=1');
  const withPrefix = (prefix: string) => () =>
    redisStore({ evalsha: some, eval: some }, { prefix });

  it.each(['a', 'x'.repeat(200), 'team:calls', 'é', '😀'.repeat(200)])('may be %s', (prefix) => {
    expect(withPrefix(prefix)).not.toThrow();
  });

  it.each(['', 'x'.repeat(201), 'a{b', 'a}b', 'a\0', 'a\nb', '\ud800'])(
    'may not be %j',
    (prefix) => {
      expect(withPrefix(prefix)).toThrow('expected 1 to 200 characters without { and }');
    },
  );
});
