import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { freePort } from '@call-webhooks/contract-tests';
import { SECRETS } from '../src/graded/graded-receiver.ts';
import { runCheck } from '../src/graded/run-check.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = 'packages/verification/src/graded/receiver-program.ts';

/** Runs a command in a shell as `check --deep` does, and resolves when it has ended. */
async function shell(command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: 'ignore' });
  await once(child, 'exit');
}

/** Grades the probes of restarts. The receiver is killed, and started again in the background. */
async function gradedRestart(stores: 'in a file' | 'in memory') {
  const folder = mkdtempSync(join(tmpdir(), 'restart-'));
  const port = String(await freePort());
  const pidFile = join(folder, 'pid');
  const settings = {
    PORT: port,
    CALL_WEBHOOK_SECRET: SECRETS.join(' '),
    EFFECTS: join(folder, 'effects'),
    ...(stores === 'in a file' && { DATABASE: join(folder, 'calls.db') }),
  };
  const variables = Object.entries(settings).map(([name, value]) => `${name}='${value}'`);
  const run = `exec env ${variables.join(' ')} '${process.execPath}' --import tsx --conditions=@call-webhooks/source ${PROGRAM}`;
  const start = `cd '${ROOT}' && { (${run}) >/dev/null 2>&1 & echo $! > '${pidFile}'; }`;
  const origin = `http://127.0.0.1:${port}`;
  try {
    await shell(start);
    const restart = `kill -9 $(cat '${pidFile}') && ${start}`;
    while (!(await fetch(`${origin}/effects`).catch(() => undefined))?.ok) await pause(50);
    return await runCheck({ url: `${origin}/hook`, effectsUrl: `${origin}/effects` }, [
      ...['--only', 'restart'],
      ...['--restart', restart, '--restart-within', '10m', '--max-time', '20m'],
    ]);
  } finally {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

test('our receiver with a store in a file survives a kill', async () => {
  expect(await gradedRestart('in a file')).toMatchObject({
    ...{ exitCode: 0, points: 100, failed: [], noted: [], skipped: [] },
  });
});

test('with the memory store, replays and duplicates of before a restart are run again', async () => {
  const { exitCode, failed } = await gradedRestart('in memory');
  expect(exitCode).toBe(1);
  expect(failed.map((line) => line.split(':')[0])).toEqual(['restart-replay', 'restart-duplicate']);
});
