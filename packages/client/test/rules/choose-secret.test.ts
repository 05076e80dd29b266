import { describe, expect, test } from '@jest/globals';
import { chooseSecret, type WantedSecret } from '../../src/rules/choose-secret.ts';
import { findSecrets } from '../../src/rules/find-secrets.ts';

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
