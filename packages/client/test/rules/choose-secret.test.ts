import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chooseSecret, type WantedSecret } from '../../src/rules/choose-secret.ts';
import { findSecrets } from '../../src/rules/find-secrets.ts';
import { liveSecrets, runExclusive, secretsFrom, whenIdle } from '../../src/rules/secret-store.ts';
import { TestStore } from '../support/secret-store.ts';

const A = 'whsec_QUFB';
const B = 'whsec_QkJC';
const url = 'https://receiver.example.com/hook';
const elsewhere = 'https://receiver.example.com/other';

/** The secret that is chosen, or all that it may be. */
function chosen(response: unknown, wanted: WantedSecret): string | string[] {
  const { secret, candidates } = chooseSecret(findSecrets(response), wanted);
  return secret ?? [...new Set(candidates.map((one) => one.secret))];
}

describe('a rotated secret is the one of its action, and not a previous one', () => {
  test.each<[string, unknown]>([
    [
      'a whole rule',
      {
        _id: 'r',
        actions: [
          { _id: 'x', secret: A },
          { _id: 'a', secret: B },
        ],
      },
    ],
    [
      'a whole rule, ours first',
      {
        actions: [
          { id: 'a', secret: B },
          { id: 'x', secret: A },
        ],
      },
    ],
    [
      'a list',
      [
        { actionId: 'x', hook: { secret: A } },
        { actionId: 'a', hook: { secret: B } },
      ],
    ],
    ['a map by id', { actions: { x: { secret: A }, a: { secret: B } } }],
    ['a map of secrets', { secrets: { x: A, a: B } }],
    ['previous and current', { previous: A, current: B }],
    ['current and previous', { currentSecret: B, previousSecret: A }],
    ['old and new', { oldSigningSecret: A, new_signing_secret: B }],
    ['a previous one in an object', { secret: B, previous: { secret: A } }],
    ['an expiring one', { signingSecret: B, expiring: [{ secret: A }] }],
    [
      'a list with times',
      {
        secrets: [
          { value: A, expiresAt: 1 },
          { value: B, expiresAt: null },
        ],
      },
    ],
    [
      'a list with states',
      {
        secrets: [
          { value: A, status: 'retired' },
          { value: B, status: 'active' },
        ],
      },
    ],
    [
      'a list with flags',
      {
        secrets: [
          { value: A, current: false },
          { value: B, current: true },
        ],
      },
    ],
    [
      'ours has both',
      {
        actions: [
          { _id: 'x', current: A },
          { _id: 'a', previous: A, current: B },
        ],
      },
    ],
    ['it stands twice', { secret: B, action: { _id: 'a', secret: B }, previous: A }],
    ['names that only look alike', { threshold: { folder: B }, previous: A }],
  ])('%s', (_, response) => {
    expect(chosen(response, { actionId: 'a' })).toEqual(B);
  });

  test('secrets from before are not the new one', () => {
    expect(chosen([A, B], { actionId: 'a', known: new Set([A]) })).toEqual(B);
    expect(chosen([A], { actionId: 'a', known: new Set([A]) })).toEqual(A);
  });

  test.each<[string, unknown]>([
    ['a plain list', [A, B]],
    ['names without a meaning', { one: A, two: B }],
    ['current and next', { current: A, next: B }],
    ['two of our action', { _id: 'a', one: A, two: B }],
    [
      'two of other actions',
      {
        actions: [
          { _id: 'x', secret: A },
          { _id: 'y', secret: B },
        ],
      },
    ],
    [
      'all expire',
      {
        secrets: [
          { value: A, expiresAt: 1 },
          { value: B, expiresAt: 2 },
        ],
      },
    ],
    ['a text', `old ${A}, new ${B}`],
  ])('unclear: %s', (_, response) => {
    expect(chosen(response, { actionId: 'a' })).toEqual([A, B]);
  });
});

describe('the secret of a new action is the one beside its URL', () => {
  test.each<[string, unknown]>([
    [
      'a whole rule',
      {
        actions: [
          { _id: 1, url: elsewhere, secret: A },
          { _id: 2, url, secret: B },
        ],
      },
    ],
    [
      'a nested URL',
      {
        actions: [
          { config: { url: elsewhere }, secret: A },
          { config: { url }, secret: B },
        ],
      },
    ],
    [
      'a nested secret',
      {
        actions: [
          { url: elsewhere, hook: { secret: A } },
          { url, hook: { secret: B } },
        ],
      },
    ],
    [
      'another spelling of the URL',
      [
        { url: elsewhere, secret: A },
        { url: 'HTTPS://receiver.example.com:443/hook', secret: B },
      ],
    ],
    [
      'an older action beside it',
      { action: { url, secret: B }, previousAction: { url: elsewhere, secret: A } },
    ],
  ])('%s', (_, response) => {
    expect(chosen(response, { url })).toEqual(B);
  });

  test('two actions with the same URL are unclear', () => {
    expect(
      chosen(
        [
          { url, secret: A },
          { url, secret: B },
        ],
        { url },
      ),
    ).toEqual([A, B]);
  });
});

/** The secrets in a response, each once. */
function secretsIn(response: unknown): string[] {
  return [...new Set(findSecrets(response).map(({ secret }) => secret))];
}

describe('findSecrets', () => {
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
    expect(secretsIn(answer)).toEqual(secrets);
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
    expect(secretsIn(answer)).toEqual([]);
  });

  test('finds a secret wherever it stands in a JSON value', () => {
    const secret = fc
      .uint8Array({ minLength: 1, maxLength: 48 })
      .map((key) => `whsec_${Buffer.from(key).toString('base64')}`);
    fc.assert(
      fc.property(secret, fc.jsonValue(), fc.array(fc.string()), (wanted, beside, path) => {
        const answer = path.reduce<unknown>((inner, key) => [{ [`k${key}`]: inner }, 1], wanted);
        expect(secretsIn([beside, answer])).toContain(wanted);
      }),
    );
  });

  test('says where each one is', () => {
    const response = { actions: [{ _id: 'a', secret: 'whsec_QUJD' }] };
    expect(findSecrets(response)).toEqual([
      {
        secret: 'whsec_QUJD',
        path: ['actions', '0', 'secret'],
        parents: [response, response.actions, response.actions[0]],
      },
    ]);
  });
});

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
