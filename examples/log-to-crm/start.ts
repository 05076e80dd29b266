// Runs the service (our simulator), a CRM and the receiver, and lets happen what happens: events that
// come twice and out of order, a CRM that is down, a receiver that dies. With --once it ends by
// itself: exit code 0 when the CRM has what it must have.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { checksOf } from './checks.ts';
import { startCrm } from './crm.ts';
import { startReceiver } from './receiver-process.ts';
import { ink } from './ink.ts';

const { values } = parseArgs({ options: { once: { type: 'boolean' }, help: { type: 'boolean' } } });
if (values.help) {
  console.log(`Usage: npm start [-- --once]

  --once   end when the tour is done: exit code 0 when all is as it must be
  --help   this text`);
  process.exit(0);
}

const title = (text: string) => {
  console.log(ink.bold(`\n${text}`));
};
const folder = await mkdtemp(join(tmpdir(), 'log-to-crm-'));
const simulator = await startSimulator({ clock: 'manual', seed: 'log-to-crm' });
const crm = await startCrm(2);
const secret = generateSecret();
const lines: string[] = [];
const env = {
  CALL_WEBHOOK_SECRET: secret,
  SERVICE_URL: simulator.url,
  API_TOKEN: simulator.apiToken,
  CRM_URL: crm.url,
  DATA_FOLDER: folder,
};
const start = (port = 0) =>
  startReceiver({ ...env, PORT: String(port) }, (line) => lines.push(line));

title('The receiver starts.');
let receiver = await start();
simulator.rules.forwardTo(receiver.url, { secret });

title('Three calls are placed. Every event comes twice, in any order; the CRM is down at first.');
simulator.chaos.set({ duplicate: 1, reorder: 0.5 });
for (let call = 0; call < 3; call++) simulator.calls.place({ durationSeconds: 5 + call });
simulator.calls.place({ recorded: false });
await simulator.clock.runUntilIdle();

title('The receiver is killed, while two more calls end. It comes back minutes later.');
await receiver.end('SIGKILL');
for (let call = 0; call < 2; call++) simulator.calls.place({ durationSeconds: 8 });
await simulator.clock.advance('1m');
receiver = await start(receiver.port);
await simulator.clock.runUntilIdle();

title('It remembers nothing of before but what is on the disk. All old events come again.');
for (const { _id } of simulator.deliveries.list()) simulator.deliveries.resend(_id);
await simulator.clock.runUntilIdle();

title('What the CRM has');
for (const [callId, { number, endedAt, recording }] of crm.entries) {
  const sound =
    recording === undefined ? 'no recording' : `${String(recording.seconds)} s recorded`;
  console.log(`  ${callId}  ${number ?? '?'}  ended ${endedAt ?? '?'}  ${sound}`);
}
title('Checks');
const checks = await checksOf(simulator, crm, lines);
for (const { what, right } of checks)
  console.log(`  ${right ? ink.green('as it must be') : ink.red('wrong')}  ${what}`);

if (!values.once) {
  console.log(
    `\nThe service goes on at ${simulator.url}, with its data in ${folder}. Ctrl-C ends it.`,
  );
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}
await receiver.end('SIGTERM');
crm.server.close();
crm.server.closeAllConnections();
await simulator.close();
await rm(folder, { recursive: true });
process.exitCode = checks.every(({ right }) => right) ? 0 : 1;
