import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PGlite } from '@electric-sql/pglite';
import { describe, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { freePort, runSample, serveLocally, startSender } from '@call-webhooks/contract-tests';

const document = '../../../../../docs/one-row-per-call.md';
const test = import.meta.url;
const ENDED = '2026-01-31T12:34:56.000Z';
const RECORDING = 'https://service.example/v1/calls/x/recording';

/** The three events of a call. */
const eventsOf = (callId: string) => ({
  started: { eventName: 'call:started', callId },
  completed: { eventName: 'call:completed', callId, endedAt: ENDED },
  recorded: {
    eventName: 'call:recording-available',
    callId,
    eventId: `${callId}:recording-available`,
    recordingUrl: RECORDING,
  },
});
type Name = keyof ReturnType<typeof eventsOf>;

const ORDERS: Name[][] = [
  ['started', 'completed', 'recorded'],
  ['started', 'recorded', 'completed'],
  ['completed', 'started', 'recorded'],
  ['completed', 'recorded', 'started'],
  ['recorded', 'started', 'completed'],
  ['recorded', 'completed', 'started'],
];

async function start(block: number, replace: Record<string, string>, env: Record<string, string>) {
  const secret = generateSecret();
  const port = String(await freePort());
  const sample = runSample({
    ...{ test, document, block },
    replace: { '3000': port, ...replace },
    env: { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret(), ...env },
  });
  await sample.printed('started');
  const sender = startSender(`http://127.0.0.1:${port}/hook`, secret);
  const deliver = async (event: object) => (await sender.post(JSON.stringify(event))).outcome;
  return { sample, deliver };
}

describe('the samples of docs/one-row-per-call.md', () => {
  it('fill one row in a database, in every order and under retries', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-one-row-'));
    const open = () => PGlite.create(join(folder, 'db'));
    await (await open()).close(); // the first start takes seconds on a busy machine
    const path = JSON.stringify(join(folder, 'db'));
    const { sample, deliver } = await start(1, { 'PGlite.create()': `PGlite.create(${path})` }, {});
    for (const [index, order] of ORDERS.entries()) {
      const events = eventsOf(`call-${String(index)}`);
      for (const name of order) expect(await deliver(events[name])).toBe('handled');
      for (const name of order) expect(await deliver(events[name])).toBe('duplicate');
    }
    // All three at once, as they arrive in several processes.
    const atOnce = Object.values(eventsOf('call-6'));
    expect(await Promise.all(atOnce.map(deliver))).toEqual(['handled', 'handled', 'handled']);
    // Without an id, an event is acknowledged: it would fail at every retry, and pause the rule.
    expect(await deliver({ eventName: 'call:completed' })).toBe('handled');
    await sample.end();
    const db = await open();
    const { rows } = await db.query('SELECT id, started, ended_at, recording_url FROM calls');
    expect(rows).toHaveLength(7);
    for (const row of rows)
      expect(row).toMatchObject({
        started: true,
        ended_at: new Date(ENDED),
        recording_url: RECORDING,
      });
    await db.close();
    rmSync(folder, { recursive: true });
  });

  it('fill one record of a CRM, in every order, while it fails now and then', async () => {
    const records = new Map<string, object>();
    let requests = 0;
    const crm = await serveLocally((request, response) => {
      void text(request).then((body) => {
        requests += 1;
        const path = request.url as string;
        // Every fourth request fails, half of them after the change has been made.
        if (requests % 8 !== 0)
          records.set(path, { ...records.get(path), ...(JSON.parse(body) as object) });
        response.writeHead(requests % 4 === 0 ? 503 : 200).end();
      });
    });
    const { sample, deliver } = await start(2, {}, { CRM_URL: crm.origin });
    let failed = 0;
    for (const [index, order] of ORDERS.entries()) {
      const events = eventsOf(`call-${String(index)}`);
      for (const name of order)
        while ((await deliver(events[name])) === 'handler-failed') failed += 1;
    }
    expect(failed).toBeGreaterThan(3);
    expect([...records.keys()].sort()).toEqual(
      ORDERS.map((_, index) => `/calls/call-${String(index)}`),
    );
    for (const record of records.values())
      expect(record).toEqual({ started: true, endedAt: ENDED, recordingUrl: RECORDING });
    const asked = requests;
    expect(await deliver({ eventName: 'call:completed' })).toBe('handled');
    expect(requests).toBe(asked);
    await sample.end();
    await crm.close();
  });
});
