import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import {
  callBody,
  describeWithProgram,
  freePort,
  redisServer,
  runSample,
  startSender,
} from '@call-webhooks/contract-tests';

describeWithProgram('redis-server', 'the samples of the README', () => {
  it('take a delivery in one process and run it in another', async () => {
    const server = await redisServer({ durable: true });
    await server.start();
    const [redis, port] = [String(server.port), String(await freePort())];
    const secret = generateSecret();
    const receiver = runSample({
      test: import.meta.url,
      block: 2,
      replace: { '6379': redis, '3000': port },
      env: { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() },
    });
    const worker = runSample({ test: import.meta.url, block: 3, replace: { '6379': redis } });
    for (const sample of [receiver, worker]) await sample.printed('started');

    const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
    expect((await sender.post(callBody('call-1'))).outcome).toBe('queued');
    await worker.printed('call-1');
    expect((await sender.post(callBody('call-1'))).outcome).toBe('duplicate');
    expect(await worker.end()).toEqual([0, null]);
    expect(await receiver.end()).toEqual([0, null]);
    await server.stop();
  });
});
