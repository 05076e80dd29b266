// Starts the receiver on a free port, and the sender against it. With --once it ends by itself:
// exit code 0 when every answer was as it must be.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generateSecret } from '@call-webhooks/core';
import pc from 'picocolors';

const HELP = `Usage: npm start [-- --once]

Runs an Express receiver and a sender that plays the service, in two processes.

  --once   end when the sender is done: exit code 0 when every answer was right
  --help   this text`;

const { values } = parseArgs({ options: { once: { type: 'boolean' }, help: { type: 'boolean' } } });
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const secret = process.env['CALL_WEBHOOK_SECRET'] ?? generateSecret();
const env = { ...process.env, CALL_WEBHOOK_SECRET: secret };
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Its output with a margin, so that the two processes can be told apart. */
function show(child: ChildProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text.replace(/^(?=.)/gm, pc.dim('  receiver │ ')));
    });
  }
}

const receiver = fork(here('./server.ts'), { env, silent: true });
show(receiver);
const ended = once(receiver, 'exit');
const [ready] = (await Promise.race([
  once(receiver, 'message'),
  ended.then(() => [undefined]),
])) as [{ url: string } | undefined];
if (!ready) {
  console.error('The receiver did not start.');
  process.exit(1);
}

const sender = fork(here('./sender.ts'), [ready.url], { env });
const [code] = (await once(sender, 'exit')) as [number | null];

if (values.once) {
  receiver.kill();
  await ended;
  process.exitCode = code ?? 1;
} else {
  console.log(`\nThe receiver goes on at ${ready.url}. Ctrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => receiver.kill(signal));
  await ended;
}
