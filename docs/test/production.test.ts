import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { callBody, freePort, runSample, startSender } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { writeSamples } from './samples.ts';

const secret = generateSecret();
const env = { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() };

it('the sample of docs/deploying.md is ready, and closes everything on SIGTERM', async () => {
  const port = String(await freePort());
  const sample = runSample({
    ...{ test: import.meta.url, document: '../deploying.md', block: 4, env },
    replace: { '3000': port, "'calls.db'": "':memory:'" },
  });
  await sample.printed('started');
  const url = `http://127.0.0.1:${port}`;
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  expect((await startSender(`${url}/hook`, secret).post(callBody('c1'))).outcome).toBe('ignored');
  expect(await sample.end()).toEqual([0, null]);
  await sample.printed('call-webhooks: closed');
});

it('the worker of docs/kubernetes.md is ready, and ends on SIGTERM', async () => {
  const port = String(await freePort());
  const sample = runSample({
    ...{ test: import.meta.url, document: '../kubernetes.md', block: 1, env },
    replace: { '3001': port, "'calls.db'": "':memory:'" },
  });
  await sample.printed('started');
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  expect(await sample.end()).toEqual([0, null]);
});

it('the receiver of docs/start.md does not claim to listen on a port that is in use', async () => {
  const other = createServer().listen(0);
  await once(other, 'listening');
  const port = String((other.address() as AddressInfo).port);
  const { file, code } = writeSamples('busy', (document) => document === 'docs/start.md')[0]!;
  writeFileSync(file, code.replaceAll('3000', port));
  const args = ['--import', 'tsx', '--conditions=@call-webhooks/source', file];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  other.close();
  expect(exitCode).toBe(1);
  expect(printed).toContain('EADDRINUSE');
  expect(printed).not.toContain(`${port}/hook`);
});
