import { describe, expect, it, jest } from '@jest/globals';
import { redisStore } from '../src/index.ts';

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
