import { createHmac } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';

// As on Workers and the edge, where signing is asynchronous. Nothing may import core before this.
jest.unstable_mockModule('#platform', () => import('../../src/platform/web.ts'));
const { generateSecret, sign, verify } = await import('../../src/index.ts');

const secrets = [generateSecret(), generateSecret(), generateSecret()];
const SECONDS = 1_760_000_000;
const body = new TextEncoder().encode('{"eventName":"call:started"}');
const options = { secret: secrets, now: () => SECONDS * 1_000 };

it.each([0, 1, 2])('verifies with the secret at place %d of the list', async (index) => {
  const headers = await sign({ secret: secrets[index], timestamp: SECONDS, body });
  const { secretId } = await verify({ headers, body }, options);
  const key = Buffer.from((secrets[index] as string).slice(6), 'base64');
  const hmac = createHmac('sha256', key).update('fingerprint of a call-webhooks secret');
  expect(secretId).toBe(`secret-${hmac.digest('hex').slice(0, 8)}`);
});

it('refuses what none of the secrets signed', async () => {
  const headers = await sign({ secret: generateSecret(), timestamp: SECONDS, body });
  await expect(verify({ headers, body }, options)).rejects.toMatchObject({
    code: 'signature-mismatch',
  });
});
