// Runs the simulated service, a CRM and the receiver. Events arrive twice and out of order, the CRM is
// down at first, and the receiver is killed. With --once it exits by itself: with 0 if the CRM has the
// expected entries.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { checksOf } from './checks.ts';
import { startCrm } from './crm.ts';
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

title('Three calls are placed. Every event arrives twice, in any order. The CRM is down at first.');
simulator.chaos.set({ duplicate: 1, reorder: 0.5 });
for (let call = 0; call < 3; call++) simulator.calls.place({ durationSeconds: 5 + call });
simulator.calls.place({ recorded: false });
await simulator.clock.runUntilIdle();

title('The receiver is killed while two more calls end. It restarts minutes later.');
await receiver.end('SIGKILL');
for (let call = 0; call < 2; call++) simulator.calls.place({ durationSeconds: 8 });
await simulator.clock.advance('1m');
receiver = await start(receiver.port);
await simulator.clock.runUntilIdle();

title('It only knows what is on disk. All earlier events are sent again.');
for (const { _id } of simulator.deliveries.list()) simulator.deliveries.resend(_id);
await simulator.clock.runUntilIdle();

title('The CRM now contains');
for (const [callId, { number, endedAt, recording }] of crm.entries) {
  const sound =
    recording === undefined ? 'no recording' : `${String(recording.seconds)} s recorded`;
  console.log(`  ${callId}  ${number ?? '?'}  ended ${endedAt ?? '?'}  ${sound}`);
}
title('Checks');
const checks = await checksOf(simulator, crm, lines);
for (const { what, right } of checks)
  console.log(
    `  ${right ? styleText('green', 'as expected') : styleText('red', 'wrong')}  ${what}`,
  );

if (!values.once) {
  console.log(
    `\nThe service is still running at ${simulator.url}, with its data in ${folder}. Press Ctrl+C to stop.`,
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
