import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findSecrets } from '../../src/rules/find-secrets.ts';

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
