import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callBody, startSender, waitFor } from '@call-webhooks/contract-tests';

const secret = generateSecret();

async function start(env: NodeJS.ProcessEnv) {
  const child: ChildProcess = fork(fileURLToPath(new URL('../server.ts', import.meta.url)), {
    env: { ...process.env, CALL_WEBHOOK_SECRET: secret, PORT: '0', ...env },
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    silent: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    sender: startSender(url, secret),
    health: async () => {
      const response = await fetch(url.replace('/hook', '/health'));
      return { status: response.status, body: await response.json() };
    },
    printed: (text: string) => waitFor(() => output.includes(text), { what: text }),
    async end(signal: NodeJS.Signals) {
      const ended = once(child, 'exit');
      child.kill(signal);
      return (await ended) as [number | null, string | null];
    },
  };
}

it('keeps what it acknowledged over a crash and an outage, and ends by itself on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-example-'));
  const CALLS_DB = join(folder, 'calls.db');
  try {
    const first = await start({ CALLS_DB, CRM_DOWN: '1' });
    expect((await first.sender.post(callBody('c1'))).outcome).toBe('queued');
    await first.printed('The CRM is down');
    expect((await first.health()).body).toMatchObject({ ok: true, jobs: { delayed: 1 } });
    expect(await first.end('SIGKILL')).toEqual([null, 'SIGKILL']);

    const second = await start({ CALLS_DB });
    await second.printed('call c1 is in the CRM (attempt ');
    expect((await second.sender.post(callBody('c1'))).outcome).toBe('duplicate');
    expect((await second.sender.post(callBody('c2'))).outcome).toBe('queued');
    await second.printed('call c2 is in the CRM (attempt 1)');
    expect(await second.health()).toMatchObject({ status: 200, body: { jobs: { dead: 0 } } });
    expect(await second.end('SIGTERM')).toEqual([0, null]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
