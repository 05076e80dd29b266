import { expect, it, jest } from '@jest/globals';

// As on Workers and the edge, where signing is asynchronous. Nothing may import core before this.
jest.unstable_mockModule('#platform', () => import('../../src/platform/web.ts'));
const { generateSecret, sign } = await import('../../src/index.ts');
const { authenticate } = await import('../../src/signature/verify.ts');
const { fixedKeys } = await import('../../src/signature/secrets.ts');
const { headerNames } = await import('../../src/signature/headers.ts');

const secrets = [generateSecret(), generateSecret(), generateSecret()];
const SECONDS = 1_760_000_000;
const body = new TextEncoder().encode('{"eventName":"call:started"}');
const rules = {
  names: headerNames(),
  profile: undefined,
  toleranceSeconds: 300,
};
const keys = fixedKeys(secrets);

it.each([0, 1, 2])('verifies with the secret at place %d of the list', async (index) => {
  const headers = await sign({ secret: secrets[index] as string, timestamp: SECONDS, body });
  const pending = authenticate(headers, body, SECONDS * 1_000, rules, keys);
  expect(pending).toBeInstanceOf(Promise);
  expect((await pending).secretId).toBe(`secret-${String(index + 1)}`);
});

it('refuses what none of the secrets signed', async () => {
  const headers = await sign({ secret: generateSecret(), timestamp: SECONDS, body });
  await expect(authenticate(headers, body, SECONDS * 1_000, rules, keys)).rejects.toMatchObject({
    code: 'signature-mismatch',
  });
});
