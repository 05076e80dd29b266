import { expect, test } from '@jest/globals';
import { secretsFrom } from '../../src/rules/secret-provider.ts';
import { TestStore } from '../support/secret-store.ts';

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
