import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('dates are read and written in UTC, whatever the zone of the process is', async () => {
  // Jest's copy of `process.env` would not change the zone.
  const program = fileURLToPath(new URL('./support/in-other-zones.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', '--conditions=@call-webhooks/source', program],
  ]);
  const same = '5 since:2026-01-01 until:2026-01-01';
  expect(stdout).toBe(`300 ${same}\n-780 ${same}\n`);
});
