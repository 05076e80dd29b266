import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callBody, freePort, runSample, startSender } from '@call-webhooks/contract-tests';
import { freshFile } from './support.ts';

it('has a sample that runs', async () => {
  const secret = generateSecret();
  const port = String(await freePort());
  const { file, remove } = freshFile();
  const sample = runSample({
    test: import.meta.url,
    block: 1,
    replace: { "'calls.db'": JSON.stringify(file), '3000': port },
    env: { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() },
  });
  await sample.printed('started');
  const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
  expect((await sender.post(callBody('call-1'))).outcome).toBe('queued');
  await sample.printed('call-1');
  expect((await sender.post(callBody('call-1'))).outcome).toBe('duplicate');
  expect(await sample.end()).toEqual([0, null]);
  remove();
});
