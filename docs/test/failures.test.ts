import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { writeSamples } from './samples.ts';

const secret = generateSecret();
const folder = mkdtempSync(join(tmpdir(), 'failures-'));
const before = { ...process.env };

beforeAll(() => {
  process.env['CALL_WEBHOOK_SECRET'] = secret;
  process.env['RECORDING_WEBHOOK_SECRET'] = generateSecret();
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterAll(() => {
  jest.restoreAllMocks();
  process.env = before;
  rmSync(folder, { recursive: true });
});

it('an event that fails three times is in the dead letters, and the others go on', async () => {
  const [sample] = writeSamples('failures', (document) => document === 'docs/failures.md');
  const file = sample!.file;
  const started = readFileSync(file, 'utf8')
    .replace("'calls.db'", JSON.stringify(join(folder, 'calls.db')))
    .replace(/^express\(\)(.*)\.listen\(3000\);$/m, 'export const server = express()$1.listen(0);');
  writeFileSync(file, started);
  const { server } = (await import(file)) as { server: Server };
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sender = startSender(`http://127.0.0.1:${String(port)}/hook`, secret);

  const asked: string[] = [];
  const { fetch } = globalThis;
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith('https://crm.example.com')) return fetch(input, init);
    asked.push(url);
    return new Response(null, { status: url.endsWith('/bad') ? 500 : 204 });
  });
  const outcomes: unknown[] = [];
  for (const callId of ['bad', 'bad', 'bad', 'bad', 'good'])
    outcomes.push((await sender.post(callBody(callId, 'call:completed'))).outcome);
  expect(outcomes).toEqual([
    ...['handler-failed', 'handler-failed', 'dead-lettered', 'in-dead-letters', 'handled'],
  ]);
  expect(asked.map((url) => url.split('/').at(-1))).toEqual(['bad', 'bad', 'bad', 'good']);

  server.close();
  await once(server, 'close');
});
