import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callBody, freePort, runSample, startSender } from '@call-webhooks/contract-tests';
import { withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

withMysql('the sample of the README', () => {
  const test = useMysql();

  it('runs, and ends by itself', async () => {
    const secret = generateSecret();
    const port = String(await freePort());
    const sample = runSample({
      test: import.meta.url,
      block: 1,
      replace: { '3000': port },
      env: {
        DATABASE_URL: test.url,
        CALL_WEBHOOK_SECRET: secret,
        RECORDING_WEBHOOK_SECRET: generateSecret(),
      },
    });
    await sample.printed('started');
    const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
    expect((await sender.post(callBody('call-1'))).outcome).toBe('ignored');
    expect((await sender.post('{', {})).status).toBe(200); // it is in the dead letters
    expect(await sample.end()).toEqual([0, null]);
  });
});
