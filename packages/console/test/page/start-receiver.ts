import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signedRequest, TEST_SECRET } from '@call-webhooks/testing';
import type { Orders, ReceiverInput } from './receiver-process.ts';

/** A process that runs a receiver and its console. */
export interface RunningReceiver {
  /** Where the console is. */
  readonly url: string;
  /** Its store. Another process can share it. */
  readonly file: string;
  /** Sends a signed delivery. @returns the status */
  deliver(event: object, options?: Parameters<typeof signedRequest>[1]): Promise<number>;
  tell(orders: Orders): Promise<void>;
  /** What was logged of changes in the console. */
  logged(): Promise<{ action: string; by: string }[]>;
  /** Ends the process at once. Its file stays. */
  stop(): Promise<void>;
  /** Starts it anew, at the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

type Input = Partial<Omit<ReceiverInput, 'port'>>;

const PROGRAM = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));

/** Starts one on a free port. */
export async function startReceiver(options: Input = {}): Promise<RunningReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-console-'));
  const input = { file: join(folder, 'calls.db'), secret: TEST_SECRET, ...options };
  let port = 0;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = fork(PROGRAM, [JSON.stringify({ ...input, port })], {
      execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    });
    const [said] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error('The receiver did not start.');
      }),
    ])) as [{ port: number }];
    ({ port } = said);
  };
  const stop = async () => {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  const origin = `http://127.0.0.1:${String(port)}`;
  return {
    url: `${origin}/ops/webhooks`,
    file: input.file,
    async deliver(event, signing) {
      const { headers, body } = await signedRequest(event, { secret: input.secret, ...signing });
      return (await fetch(`${origin}/hook`, { method: 'POST', headers, body })).status;
    },
    async tell(orders) {
      const done = once(child as ChildProcess, 'message');
      child?.send(orders);
      await done;
    },
    logged: async () =>
      (await (await fetch(`${origin}/test/logged`)).json()) as { action: string; by: string }[],
    stop,
    start,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
