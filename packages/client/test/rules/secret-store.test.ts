import { describe, expect, test } from '@jest/globals';
import { liveSecrets, runExclusive, secretsFrom, whenIdle } from '../../src/rules/secret-store.ts';
import { TestStore } from '../support/secret-store.ts';

describe('runExclusive', () => {
  test('runs one task at a time for a store, also after a failed one', async () => {
    const store = {};
    const log: string[] = [];
    const task = (name: string) => async (): Promise<string> => {
      log.push(`${name} starts`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (name === 'b') throw new Error(name);
      return name;
    };
    const results = await Promise.allSettled([
      runExclusive(store, task('a')),
      runExclusive(store, task('b')),
      runExclusive(store, task('c')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  test('whenIdle waits for the running tasks, and for those that they start', async () => {
    const store = {};
    let done = 0;
    const finish = async (): Promise<void> => {
      done++;
    };
    void runExclusive(store, async () => {
      void runExclusive(store, finish);
      await finish();
    });
    await whenIdle(store);
    expect(done).toBe(2);
    await whenIdle({});
  });
});

describe('secretsFrom', () => {
  test('returns the live secrets, with id and secret only', async () => {
    const store = new TestStore(
      { id: 'new', secret: 'whsec_bmV3' },
      { id: 'old', secret: 'whsec_b2xk', expiresAt: 1000 },
    );
    let now = 999;
    const provider = secretsFrom(store, { now: () => now });
    expect(await provider()).toEqual([
      { id: 'new', secret: 'whsec_bmV3' },
      { id: 'old', secret: 'whsec_b2xk' },
    ]);
    now = 1000;
    expect(await provider({ refresh: true })).toEqual([{ id: 'new', secret: 'whsec_bmV3' }]);
  });
});

describe('liveSecrets', () => {
  test('a secret is live until it expires, if it ever does', () => {
    const secrets = [
      { id: 'a', secret: 'whsec_YQ==' },
      { id: 'b', secret: 'whsec_Yg==', expiresAt: 10 },
    ];
    expect(liveSecrets(secrets, 9)).toEqual(secrets);
    expect(liveSecrets(secrets, 10)).toEqual([secrets[0]]);
  });
});
