import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { describe, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import {
  callBody,
  freePort,
  runSample,
  serveLocally,
  startSender,
} from '@call-webhooks/contract-tests';

const document = '../../../../../docs/exactly-once.md';
const test = import.meta.url;

/** The sample, on a free port. */
async function start(
  block: number,
  replace: Record<string, string> = {},
  env: Record<string, string> = {},
) {
  const secret = generateSecret();
  const port = String(await freePort());
  const sample = runSample({
    ...{ test, document, block },
    replace: { '3000': port, ...replace },
    env: { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret(), ...env },
  });
  await sample.printed('started');
  const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
  const deliver = async (event = callBody('call-1')) => (await sender.post(event)).outcome;
  return { sample, deliver };
}

describe('the samples of docs/exactly-once.md', () => {
  it('has its effect in the transaction that marks the event', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-exactly-once-'));
    const open = () => PGlite.create(join(folder, 'db'));
    await (await open()).close(); // the first start takes seconds on a busy machine
    const path = JSON.stringify(join(folder, 'db'));
    const { sample, deliver } = await start(1, { 'PGlite.create()': `PGlite.create(${path})` });
    expect(await deliver()).toBe('handled');
    expect(await deliver()).toBe('duplicate');
    await sample.end();
    const db = await open();
    const { rows } = await db.query('SELECT id FROM calls');
    expect(rows).toEqual([{ id: 'call-1' }]);
    await db.close();
    rmSync(folder, { recursive: true });
  });

  it('sends the same idempotency key in each delivery of an event', async () => {
    const keys: unknown[] = [];
    const crm = await serveLocally((request, response) => {
      keys.push(request.headers['idempotency-key']);
      response.writeHead(keys.length === 1 ? 503 : 201).end();
    });
    const { sample, deliver } = await start(3, {}, { CRM_URL: crm.origin });
    expect(await deliver()).toBe('handler-failed');
    expect(await deliver()).toBe('handled');
    expect(keys.splice(0)).toEqual(['call-1:call:completed', 'call-1:call:completed']);
    // Two calls that have no key must not share one.
    keys.push('answered 201 from now on');
    const keyless = '{"eventName":"call:completed"}';
    expect([await deliver(keyless), await deliver(keyless)]).toEqual(['handled', 'handled']);
    expect(keys.slice(1)).toEqual([undefined, undefined]);
    await sample.end();
    await crm.close();
  });
});
