import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callBody, postgresBinaries, startSender, waitFor } from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';

const secret = generateSecret();

const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };

describeWithProgram(postgres, 'the Next and Postgres example', () => {
  it('starts with a Postgres of its own, remembers events in it, and takes it along at its end', async () => {
    const app = spawn('npm', ['run', 'dev'], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      detached: true, // a process group, so that npm's children are stopped with it
      env: { ...process.env, CALL_WEBHOOK_SECRET: secret, PORT: '0', NO_COLOR: '1' },
    });
    const ended = once(app, 'exit');
    let output = '';
    for (const stream of [app.stdout, app.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const printed = async (pattern: RegExp): Promise<string> => {
      const found = () => pattern.exec(output);
      await waitFor(() => found() !== null || app.exitCode !== null, { within: 90_000 });
      const match = found();
      if (!match) throw new Error(`It ended without ${String(pattern)}:\n${output}`);
      return match[1] ?? match[0];
    };
    try {
      const origin = await printed(/Local: +(http:\/\/\S+)/);
      await printed(/Ready in/);
      const sender = startSender(`${origin}/hook`, secret);
      expect((await sender.post(callBody('c1'))).outcome).toBe('handled');
      expect((await sender.post(callBody('c1'))).outcome).toBe('duplicate');
      expect((await sender.post(callBody('flaky-1'))).outcome).toBe('handler-failed');
      expect((await sender.post(callBody('flaky-1'))).outcome).toBe('handled');
      await printed(/call flaky-1 completed \(attempt 2\)/);
      const health = await fetch(`${origin}/health`);
      expect(health.status).toBe(200);
      expect(await health.json()).toMatchObject({ ok: true, store: { status: 'up' } });
    } finally {
      if (app.pid !== undefined && app.exitCode === null) process.kill(-app.pid, 'SIGTERM');
      await ended;
    }
  }, 120_000);
});
