import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { postgresBinaries, redisServer, startPostgres } from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { oneTruth } from './one-truth.ts';
import { closeLater } from './support.ts';

const DELIVERIES = 5_000;

it('three processes behind a balancer with SQLite show one truth', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-console-'));
  closeLater(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  await oneTruth('sqlite', join(folder, 'calls.db'), DELIVERIES);
});

describeWithProgram('redis-server', 'three processes behind a balancer', () => {
  it('with Redis show one truth', async () => {
    const server = await redisServer();
    closeLater(() => server.stop());
    await server.start();
    await oneTruth('redis', `redis://127.0.0.1:${String(server.port)}`, DELIVERIES);
  });
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'three processes behind a balancer',
  () => {
    it('with Postgres show one truth', async () => {
      const server = await startPostgres();
      closeLater(() => server.remove());
      await oneTruth('postgres', server.url, DELIVERIES);
    });
  },
);
