import { describe, expect, it } from '@jest/globals';
import { redisStore } from '../src/index.ts';
import { eventKey, Keys, withName } from '../src/keys.ts';

const some = () => Promise.resolve([1]);
const HASH = /^p:\{sha256:[0-9a-f]{64}\}$/;

describe('the keys of a store', () => {
  const keys = new Keys('p');

  it.each(['call-1:call:completed', 'a', 'A_b.c:d-9', 'x'.repeat(80)])(
    'are there at once, and readable: %s',
    (key) => {
      expect(keys.slot(key)).toBe(`p:{${key}}`);
    },
  );

  it.each(['', 'x'.repeat(81), 'a b', 'a}b', '{a}', 'é', 'a\n', '\nx', 'sha256:a'])(
    'have a hash of what redis-cli would not show, or a cluster would take for a hash tag: %j',
    async (key) => {
      expect(await keys.slot(key)).toMatch(HASH);
    },
  );

  it('are of the event, of a group, of a cursor, or for a write that shows that the server is well', async () => {
    expect(eventKey('p:{a}')).toBe('p:{a}:event');
    expect(await keys.group('a')).toBe('p:{a}:group');
    expect(await keys.cursor('a')).toBe('p:{a}:cursor');
    expect(keys.ping).toBe('p:ping');
  });

  it('are waited for only if they are hashes', async () => {
    const seen: string[] = [];
    const see = (name: string) => {
      seen.push(name);
      return Promise.resolve(name);
    };
    const waited = withName(Promise.resolve('hash'), see);
    void withName('key', see);
    expect(seen).toEqual(['key']);
    expect(await waited).toBe('hash');
  });
});

describe('the prefix of a store', () => {
  const withPrefix = (prefix: string) => () =>
    redisStore({ evalsha: some, eval: some }, { prefix });

  it.each(['a', 'x'.repeat(200), 'team:calls', 'é', '😀'.repeat(200)])('may be %s', (prefix) => {
    expect(withPrefix(prefix)).not.toThrow();
  });

  it.each(['', 'x'.repeat(201), 'a{b', 'a}b', 'a\0', '\ud800'])('may not be %j', (prefix) => {
    expect(withPrefix(prefix)).toThrow('expected 1 to 200 characters without { and }');
  });
});
