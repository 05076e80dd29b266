import { expect, test } from '@jest/globals';
import { liveSecrets } from '../../src/rules/secret-store.ts';

test('a secret is live until its end, and without one for ever', () => {
  const secrets = [
    { id: 'a', secret: 'whsec_YQ==' },
    { id: 'b', secret: 'whsec_Yg==', expiresAt: 10 },
  ];
  expect(liveSecrets(secrets, 9)).toEqual(secrets);
  expect(liveSecrets(secrets, 10)).toEqual([secrets[0]]);
});
