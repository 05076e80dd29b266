import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@call-webhooks/contract-tests/servers/free-port';
import { environment, run } from './run.ts';

/**
 * Runs `npm run dev`, and `npm run call` next to it, as the README says; only the ports are free ones.
 * @throws if a handler does not get its event
 */
export async function checkDevMode(app: string): Promise<void> {
  const [port, service] = [String(await freePort()), String(await freePort())];
  const file = join(app, 'package.json');
  const manifest = readFileSync(file, 'utf8')
    .replaceAll('3000', port)
    .replace('call-webhooks simulate', `call-webhooks simulate --port ${service}`)
    .replace('call-webhooks trigger', `call-webhooks trigger --simulator ${service}`);
  writeFileSync(file, manifest);

  const dev = spawn('npm', ['run', 'dev'], {
    cwd: app,
    env: { ...environment(), PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group, as a terminal makes one: Ctrl-C goes to all of it
  });
  const closed = once(dev, 'close');
  let output = '';
  const until = (text: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = (chunk: Buffer | string) => {
        output += chunk.toString();
        if (text.test(output)) resolve();
      };
      for (const stream of [dev.stdout, dev.stderr]) stream.on('data', look);
      dev.once('close', () => {
        reject(new Error(`npm run dev ended without ${String(text)}:\n${output}`));
      });
      look('');
    });
  try {
    await until(/listening|ready in/i);
    await until(/The simulator is running/);
    const answered = await run(app, 'npm', 'run', 'call');
    assert.equal(answered.match(/200 handled/g)?.length, 3, answered);
    await until(/call completed/);
  } finally {
    if (dev.pid !== undefined && dev.exitCode === null) process.kill(-dev.pid, 'SIGINT');
    await closed;
  }
}
