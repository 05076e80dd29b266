import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import {
  callBody,
  freePort,
  queuedCall,
  runSample,
  startPostgres,
  startSender,
} from '@call-webhooks/contract-tests';
import { isPgBoss10, PASSIVE, PgBoss } from './pg-boss-version.ts';
import { pgBossQueue } from '../src/index.ts';
import { withPostgres } from './support.ts';

withPostgres('the samples of the README', () => {
  it('run, and end by themselves', async () => {
    const server = await startPostgres();
    const { port: PGPORT, hostname: PGHOST, username: PGUSER } = new URL(server.url);
    const secret = generateSecret();
    const port = String(await freePort());
    const env = { DATABASE_URL: server.url, PGPORT, PGHOST, PGUSER, PGDATABASE: 'postgres' };
    const samples = [
      runSample({
        test: import.meta.url,
        block: 1,
        replace: { '3000': port },
        env: { ...env, CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() },
      }),
      runSample({
        ...{ test: import.meta.url, block: 2, env },
        // What its comment says for pg-boss 12.
        ...(!isPgBoss10 && { replace: { "import PgBoss from 'pg-boss'; // pg-boss 12: ": '' } }),
      }),
    ] as const;
    for (const sample of samples) await sample.printed('started');

    const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
    expect((await sender.post(callBody('call-1'))).outcome).toBe('ignored');
    expect((await sender.post('{', {})).outcome).toBe('invalid-payload');
    const boss = new PgBoss({ connectionString: server.url, ...PASSIVE });
    boss.on('error', () => undefined);
    await boss.start();
    await pgBossQueue(boss).enqueue(queuedCall('call-2'));
    await samples[1].printed('call-2');
    await boss.stop({ graceful: false, wait: true });

    for (const sample of samples) expect(await sample.end()).toEqual([0, null]);
    await server.remove();
  });
});
