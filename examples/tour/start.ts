// Starts the simulator and a receiver in Express, each in its own process, and runs the tour.
// With --once it exits by itself: with 0 if every response was as expected.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs, styleText } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import { startChild, type Child } from './child.ts';
import { controlOf } from './control.ts';
import type { Ask } from './receiver.ts';
import { printStatus, type ToldStatus } from './status.ts';
import type { Operations } from './steps.ts';
import { tourOf } from './tour.ts';

const HELP = `Usage: npm start [-- --once]

Runs the simulated service and a receiver in Express, and places a few calls.

  --once   exit after the tour: with 0 if every response was as expected, otherwise 1
  --help   this text`;
const STEP_EVERY_MS = 700;
const LOOK_EVERY_MS = 400;
const CALL_EVERY_MS = 20_000;

const { values } = parseArgs({ options: { once: { type: 'boolean' }, help: { type: 'boolean' } } });
// `npm start | head`: the reader closed the pipe.
process.stdout.on('error', () => process.exit(0));
const print = (text: string) => {
  console.log(text);
};

async function main(children: Child[], stop: AbortSignal): Promise<number> {
  const secrets = {
    started: generateSecret(),
    completed: generateSecret(),
    recording: generateSecret(),
  };
  const receiver = startChild('receiver', './receiver.ts', {
    ...process.env,
    CALL_WEBHOOK_SECRET: `${secrets.started},${secrets.completed}`,
    RECORDING_WEBHOOK_SECRET: secrets.recording,
  });
  const simulator = startChild('simulator', './simulator.ts');
  children.push(receiver, simulator);
  const [target, service] = await Promise.all([receiver.url, simulator.url]);
  print(`Simulated service: ${styleText('cyan', service)}`);
  print(`Receiver:          ${target}`);
  print('Retries come five minutes later: the tour advances the simulated clock.\n');

  await receiver.ask({ follow: service } satisfies Ask);
  const operations: Operations = {
    async deploy(deployed) {
      await receiver.ask({ deploy: deployed } satisfies Ask);
    },
    async showStatus() {
      printStatus((await receiver.ask({ status: true } satisfies Ask)) as ToldStatus, print);
    },
  };
  const control = controlOf(service);
  const pauseMs = process.stdout.isTTY && !values.once ? STEP_EVERY_MS : 0;
  const tour = await tourOf(control, { url: target, secrets }, operations, { print, pauseMs });
  const { answers, wrong } = await tour.take();
  for (const text of wrong) print(text);
  if (wrong.length === 0)
    print(`\n${styleText('green', `All ${String(answers)} responses are as expected.`)}`);
  if (values.once) return wrong.length === 0 ? 0 : 1;

  print(`\nInspector: ${styleText('cyan', service)}`);
  print(`A call is placed every ${String(CALL_EVERY_MS / 1_000)} s, or when you press Enter.`);
  const { port } = new URL(service);
  const flag = port === '4777' ? '' : ` --simulator ${port}`;
  print(`In another terminal: npm run cli -- events list${flag}`);
  print('Press Ctrl+C to stop.\n');
  const call = () => void control.placeCall({ durationSeconds: 3 }).catch(() => undefined);
  const calls = setInterval(call, CALL_EVERY_MS);
  const looks = setInterval(() => void tour.look().catch(() => undefined), LOOK_EVERY_MS);
  const input = createInterface({ input: process.stdin }).on('line', call);
  await Promise.race([once(stop, 'abort'), simulator.ended, receiver.ended]);
  for (const timer of [calls, looks]) clearInterval(timer);
  input.close();
  return stop.aborted ? 0 : 1;
}

if (values.help) {
  print(HELP);
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      stop.abort();
    });
  const children: Child[] = [];
  try {
    const interrupted = once(stop.signal, 'abort').then(() => (values.once ? 130 : 0));
    process.exitCode = await Promise.race([main(children, stop.signal), interrupted]);
  } catch (error) {
    console.error(styleText('red', (error as Error).message));
    process.exitCode = 1;
  }
  await Promise.all(children.map((child) => child.stop()));
  process.exit();
}
