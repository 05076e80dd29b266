import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findSecrets } from '../../src/rules/find-secrets.ts';
import { inTurn, settled } from '../../src/rules/in-turn.ts';
import { secretsFrom } from '../../src/rules/secret-provider.ts';
import { liveSecrets } from '../../src/rules/secret-store.ts';
import { TestStore } from '../support/secret-store.ts';

describe('find-secrets', () => {
  test.each([
    ['whsec_QUJD', ['whsec_QUJD']],
    [{ a: [{ b: { signingSecret: 'whsec_QUJDRA==' } }] }, ['whsec_QUJDRA==']],
    ['Your secret is "whsec_QUJD". Keep it.', ['whsec_QUJD']],
    ['The secret is whsec_QUJD.', ['whsec_QUJD']],
    [{ whsec_QUJD: true }, ['whsec_QUJD']],
    [
      ['whsec_QUJD', 'whsec_QUJD', 'whsec_REVG'],
      ['whsec_QUJD', 'whsec_REVG'],
    ],
  ])('finds the secrets in %j', (answer, secrets) => {
    expect(findSecrets(answer)).toEqual(secrets);
  });

  test.each([
    null,
    undefined,
    7,
    {},
    'whsec_',
    'whsec_QU****',
    'whsec_QUJD…',
    'whsec_QUJD...',
    'my_whsec_QUJD',
    'whsec_QUJDRA===',
  ])('finds none in %j', (answer) => {
    expect(findSecrets(answer)).toEqual([]);
  });

  test('finds a secret wherever it stands in a JSON value', () => {
    const secret = fc
      .uint8Array({ minLength: 1, maxLength: 48 })
      .map((key) => `whsec_${Buffer.from(key).toString('base64')}`);
    fc.assert(
      fc.property(secret, fc.jsonValue(), fc.array(fc.string()), (wanted, beside, path) => {
        const answer = path.reduce<unknown>((inner, key) => [{ [`k${key}`]: inner }, 1], wanted);
        expect(findSecrets([beside, answer])).toContain(wanted);
      }),
    );
  });
});

describe('in-turn', () => {
  test('one task at a time for the same store, also after one that failed', async () => {
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
      inTurn(store, task('a')),
      inTurn(store, task('b')),
      inTurn(store, task('c')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  test('settled waits for the tasks that run, and those that join them', async () => {
    const store = {};
    let done = 0;
    const finish = async (): Promise<void> => void done++;
    void inTurn(store, async () => {
      void inTurn(store, finish);
      await finish();
    });
    await settled(store);
    expect(done).toBe(2);
    await settled({});
  });
});

describe('secret-provider', () => {
  test('gives the live secrets, by id and secret alone', async () => {
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

describe('secret-store', () => {
  test('a secret is live until its end, and without one for ever', () => {
    const secrets = [
      { id: 'a', secret: 'whsec_YQ==' },
      { id: 'b', secret: 'whsec_Yg==', expiresAt: 10 },
    ];
    expect(liveSecrets(secrets, 9)).toEqual(secrets);
    expect(liveSecrets(secrets, 10)).toEqual([secrets[0]]);
  });
});
