import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import { bytesOf, deliveries, headersOf, vectors } from './read-vectors.ts';

const sample = readFileSync(new URL('../verify.py', import.meta.url), 'utf8');
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

describeWithProgram('python3', 'verify.py', (python) => {
  /** Runs a program in a folder where the package is installed. */
  function run(program: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'contract-'));
    try {
      mkdirSync(join(folder, 'node_modules/@call-webhooks'), { recursive: true });
      symlinkSync(PACKAGE, join(folder, 'node_modules/@call-webhooks/contract'));
      writeFileSync(join(folder, 'verify.py'), program);
      return execFileSync(python, ['verify.py'], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('agrees about the signature of each delivery', () => {
    expect(run(sample)).toBe(`${deliveries.length} deliveries of ${vectors.length} vectors\n`);
  });

  it.each([
    ['another hash', 'hashlib.sha256', 'hashlib.sha1'],
    ['the first secret alone', 'for secret in secrets:', 'for secret in secrets[:1]:'],
    ['the last secret alone', 'for secret in secrets:', 'for secret in secrets[-1:]:'],
    ['no clock', '> 300', '> 3000'],
  ])('would notice one that uses %s', (_, right, wrong) => {
    expect(sample).toContain(right);
    expect(() => run(sample.replace(right, wrong))).toThrow('AssertionError: ');
  });
});

describeWithProgram('openssl', 'openssl', (openssl) => {
  it('computes the signature of each authentic delivery', () => {
    for (const { vector, delivery } of deliveries) {
      if (delivery.expect.result === 'reject') continue;
      const headers = headersOf(delivery);
      const head = `${headers['x-service-webhook-id']}.${headers['x-service-timestamp']}.`;
      const signatures = vector.secrets.map((secret) => {
        const key = Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex');
        const computed = execFileSync(
          openssl,
          ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'],
          { input: Buffer.concat([Buffer.from(head), bytesOf(delivery)]) },
        );
        return `v1,${computed.toString('base64')}`;
      });
      expect({ id: vector.id, signatures }).toEqual({
        id: vector.id,
        signatures: expect.arrayContaining([headers['x-service-signature']]),
      });
    }
  });
});
