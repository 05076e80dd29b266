// Runs the simulated service, a CRM and the receiver. Events arrive twice and out of order, the CRM is
// down at first, and the receiver is killed. With --once it exits by itself: with 0 if the CRM and the
// database have what they should.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, styleText } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { checksOf } from './checks.ts';
import { startCrm } from './crm.ts';
import { openDatabase } from './database.ts';
import { LEASE_MS } from './hook.ts';
import { startReceiver } from './receiver-process.ts';

const { values } = parseArgs({ options: { once: { type: 'boolean' }, help: { type: 'boolean' } } });
if (values.help) {
  console.log(`Usage: npm start [-- --once]

  --once   end when the tour is done: exit code 0 when all is as it must be
  --help   this text`);
  process.exit(0);
}

const title = (text: string) => {
  console.log(styleText('bold', `\n${text}`));
};
const folder = await mkdtemp(join(tmpdir(), 'log-to-crm-'));
const databaseUrl = process.env['DATABASE_URL'];
// A server remembers the calls of the last tour, so each tour needs its own.
const seed = databaseUrl === undefined ? 'log-to-crm' : folder;
const simulator = await startSimulator({ clock: 'manual', seed });
const crm = await startCrm(2);
const [calls, recordings] = [generateSecret(), generateSecret()];
const lines: string[] = [];
const env = {
  CALL_WEBHOOK_SECRET: calls,
  RECORDING_WEBHOOK_SECRET: recordings,
  SERVICE_URL: simulator.url,
  API_TOKEN: simulator.apiToken,
  CRM_URL: crm.url,
  DATA_FOLDER: folder,
};
const start = (port = 0) =>
  startReceiver({ ...env, PORT: String(port) }, (line) => lines.push(line));

/** How many calls the handlers have counted. Without a server, only while the receiver is not running. */
async function countedCalls(): Promise<number> {
  const database = await openDatabase(databaseUrl, join(folder, 'database'));
  const text = 'SELECT coalesce(sum(calls), 0)::int AS calls FROM call_counts';
  const { rows } = await database.query(text);
  await database.close();
  return (rows as { calls: number }[])[0]?.calls ?? NaN;
}

const countedBefore = databaseUrl === undefined ? 0 : await countedCalls();

title('The receiver starts.');
let receiver = await start();
const action = { url: receiver.url, secret: calls };
simulator.rules.create({ trigger: 'call:completed', scope: 'workspace', actions: [action] });
simulator.rules.setRecordingWebhook({ url: receiver.url, secret: recordings });

title('Three calls are placed. Every event arrives twice, in any order. The CRM is down at first.');
simulator.chaos.set({ duplicate: 1, reorder: 0.5 });
for (let call = 0; call < 3; call++) simulator.calls.place({ durationSeconds: 5 + call });
simulator.calls.place({ recorded: false });
await simulator.clock.runUntilIdle();

title('The receiver is killed while it logs two more calls. It restarts minutes later.');
crm.beforeNext(() => receiver.end('SIGKILL'));
for (let call = 0; call < 2; call++) simulator.calls.place({ durationSeconds: 8 });
await simulator.clock.advance('1m');
await delay(LEASE_MS); // of the events that it was handling
receiver = await start(receiver.port);
await simulator.clock.runUntilIdle();

title('All events are sent again, and the receiver is stopped.');
for (const { _id } of simulator.events.list()) simulator.events.resend(_id);
await simulator.clock.runUntilIdle();
await receiver.end('SIGTERM');

title('The CRM now contains');
for (const [callId, { number, endedAt, recording }] of crm.entries) {
  const sound =
    recording === undefined ? 'no recording' : `${String(recording.seconds)} s recorded`;
  console.log(`  ${callId}  ${number ?? '?'}  ended ${endedAt ?? '?'}  ${sound}`);
}
title('Checks');
const counted = (await countedCalls()) - countedBefore;
const checks = await checksOf(simulator, crm, lines, counted);
for (const { what, right } of checks)
  console.log(
    `  ${right ? styleText('green', 'as expected') : styleText('red', 'wrong')}  ${what}`,
  );

if (!values.once) {
  title('The receiver starts again.');
  receiver = await start(receiver.port);
  console.log(
    `\nThe service is still running at ${simulator.url}, with its data in ${folder}. Press Ctrl+C to stop.`,
  );
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await receiver.end('SIGTERM');
}
crm.server.close();
crm.server.closeAllConnections();
await simulator.close();
await rm(folder, { recursive: true });
process.exitCode = checks.every(({ right }) => right) ? 0 : 1;
