// Starts a private Redis server (or uses REDIS_URL), two receivers and a worker, and sends a few
// deliveries. With --once it exits by itself: with 0 if everything worked.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs, styleText } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import { startRedis } from './redis.ts';
import { sendDeliveries } from './sender.ts';

const EFFECTS = 4;
const { values } = parseArgs({ options: { once: { type: 'boolean' } } });
const given = process.env['REDIS_URL'];
const redis =
  given === undefined ? await ownRedis() : { url: given, stop: () => Promise.resolve() };
const secret = process.env['CALL_WEBHOOK_SECRET'] ?? generateSecret();
const env = { ...process.env, CALL_WEBHOOK_SECRET: secret, REDIS_URL: redis.url };
const children: ChildProcess[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());

const worker = child('worker');
const origins = await Promise.all(
  ['receiver 1', 'receiver 2'].map(async (name) => {
    const [message] = (await once(child('receiver', name), 'message')) as [{ origin: string }];
    return message.origin;
  }),
);
const health = await fetch(`${String(origins[0])}/health`);
console.log(`health: ${await health.text()}`);

const effects = new Set<string>();
const handled = new Promise<void>((resolve) => {
  worker.on('message', ({ did }: { did?: string }) => {
    if (did !== undefined) effects.add(did);
    if (effects.size === EFFECTS) resolve();
  });
});
const wrong = await sendDeliveries(origins, secret);
if (wrong === 0) await handled;
console.log(
  wrong === 0
    ? styleText('green', 'All responses and effects are as expected.')
    : styleText('red', 'Some responses are wrong.'),
);

if (values.once) {
  const clean = await stop();
  process.exitCode = wrong === 0 && clean ? 0 : 1;
} else
  console.log(
    `Listening at ${origins.map((origin) => `${origin}/hook`).join(' and ')}. Press Ctrl+C to stop.`,
  );

async function ownRedis() {
  try {
    return await startRedis();
  } catch {
    console.error('redis-server is not installed: apt-get install redis-server, or set REDIS_URL.');
    process.exit(3);
  }
}

/** Starts a process and prefixes its output with its name. */
function child(file: 'receiver' | 'worker', name: string = file): ChildProcess {
  const started = fork(fileURLToPath(new URL(`./${file}.ts`, import.meta.url)), {
    env,
    silent: true,
  });
  children.push(started);
  for (const stream of [started.stdout, started.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text.replace(/^(?=.)/gm, styleText('dim', `  ${name} │ `)));
    });
  return started;
}

/** Stops all processes, then the server. Returns whether all of them exited with 0. */
async function stop(): Promise<boolean> {
  const codes = await Promise.all(
    children.map(async (one) => {
      if (one.exitCode !== null || one.signalCode !== null) return one.exitCode;
      const exited = once(one, 'exit') as Promise<[number | null]>;
      one.kill('SIGTERM');
      return (await exited)[0];
    }),
  );
  await redis.stop();
  return codes.every((code) => code === 0);
}
