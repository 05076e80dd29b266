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

  it('would notice a wrong one', () => {
    const wrong = sample.replace('hashlib.sha256', 'hashlib.sha1');
    expect(wrong).not.toBe(sample);
    expect(() => run(wrong)).toThrow('AssertionError: ');
  });
});

describeWithProgram('openssl', 'openssl', (openssl) => {
  it('computes the signature of each authentic delivery', () => {
    for (const { vector, delivery } of deliveries) {
      if (delivery.expect.result === 'reject') continue;
      const headers = headersOf(delivery);
      const head = `${headers['x-service-webhook-id']}.${headers['x-service-timestamp']}.`;
      const key = Buffer.from(vector.secrets[0]!.slice('whsec_'.length), 'base64').toString('hex');
      const computed = execFileSync(
        openssl,
        ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'],
        { input: Buffer.concat([Buffer.from(head), bytesOf(delivery)]) },
      );
      expect({ id: vector.id, signature: `v1,${computed.toString('base64')}` }).toEqual({
        id: vector.id,
        signature: headers['x-service-signature'],
      });
    }
  });
});
