import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, jest } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { postgresBinaries, startPostgres } from '@call-webhooks/contract-tests/servers/postgres';
import { startReceiver } from '../log-to-crm/receiver-process.ts';

const here = fileURLToPath(new URL('../log-to-crm', import.meta.url));

async function takeTour(databaseUrl: string | undefined): Promise<void> {
  const env = {
    ...process.env,
    FORCE_COLOR: undefined,
    NO_COLOR: '1',
    DATABASE_URL: databaseUrl,
  };
  const { stdout } = await promisify(execFile)('npm', ['start', '--silent', '--', '--once'], {
    cwd: here,
    env,
  });
  expect(stdout.match(/as expected/g)).toHaveLength(7);
  expect(stdout).not.toContain('wrong');
  expect(stdout.match(/listening on port/g)).toHaveLength(2);
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toContain('whsec_');
}

it('npm start -- --once: everything is as expected, and no secret is printed', async () => {
  await takeTour(undefined);
}, 120_000);

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'with DATABASE_URL',
  () => {
    it('takes the same tour on a server, which may be used before', async () => {
      const server = await startPostgres();
      try {
        await takeTour(server.url);
        await takeTour(server.url);
      } finally {
        await server.remove();
      }
    }, 240_000);
  },
);

it('npm run receiver starts with the settings of the README, and ends at SIGTERM', async () => {
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
  const folder = await mkdtemp(join(tmpdir(), 'log-to-crm-'));
  const receiver = await startReceiver(
    {
      CALL_WEBHOOK_SECRET: generateSecret(),
      RECORDING_WEBHOOK_SECRET: generateSecret(),
      API_TOKEN: 'token',
      PORT: '0',
      SERVICE_URL: 'https://service.example',
      CRM_URL: 'https://crm.example',
      DATA_FOLDER: join(folder, 'data'),
      NODE_OPTIONS: '--import=tsx --conditions=@call-webhooks/source',
    },
    () => undefined,
  );
  const statusOf = async (url: string) => (await fetch(url, { method: 'POST' })).status;
  expect(await statusOf(receiver.url)).toBe(401);
  expect(await statusOf(`${receiver.url}s`)).toBe(503);
  await receiver.end('SIGTERM');
  expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700);
  await rm(folder, { recursive: true });
}, 60_000);

it('npm run receiver without its settings ends with what to do, and without a stack trace', async () => {
  const execution = promisify(execFile)('npm', ['run', 'receiver', '--silent'], {
    cwd: here,
    env: { ...process.env, CALL_WEBHOOK_SECRET: undefined },
  });
  await expect(execution).rejects.toMatchObject({
    code: 1,
    stderr: 'CALL_WEBHOOK_SECRET is not set: see README.md.\n',
  });
});
