import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { startProgram } from '@call-webhooks/contract-tests';

it('a time without a zone is in UTC, whatever the zone of the process is', async () => {
  // Jest's copy of `process.env` would not change the zone.
  const program = startProgram(
    fileURLToPath(new URL('.', import.meta.url)),
    `import { callDetails } from '@call-webhooks/core';
    process.env.TZ = 'America/New_York';
    const { createdAt } = callDetails({ createdAt: '2026-04-01T10:00:00' });
    console.log(new Date(2026, 3, 1).getUTCHours(), createdAt?.toISOString());`,
  );
  expect((await program.ended).output).toBe('4 2026-04-01T10:00:00.000Z\n');
});
