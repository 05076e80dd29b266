import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { oneTruth } from './one-truth.ts';
import { closeLater } from './support.ts';

it('three processes behind a balancer with SQLite show one truth', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-console-'));
  closeLater(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  await oneTruth('sqlite', join(folder, 'calls.db'), 1_000);
});
