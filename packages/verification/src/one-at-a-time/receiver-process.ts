import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { monotonicMs } from '../history/journal.ts';
import type { CallEntry } from './journal.ts';
import type { ReceiverInput } from './receiver-program.ts';

const PROGRAM = fileURLToPath(new URL('./receiver-program.ts', import.meta.url));

/** A receiver that can be killed and started again. */
export class ReceiverProcess {
  readonly #input: ReceiverInput;
  readonly #write: (entry: CallEntry) => void;
  #child: ChildProcess | undefined;

  constructor(input: ReceiverInput, write: (entry: CallEntry) => void) {
    this.#input = input;
    this.#write = write;
  }

  /** @throws Error when it exits before it is ready */
  async start(): Promise<void> {
    const child = fork(PROGRAM, [JSON.stringify(this.#input)], {
      execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    });
    this.#child = child;
    const exited = once(child, 'exit').then(() => 'exited');
    if ((await Promise.race([once(child, 'message'), exited])) === 'exited')
      throw new Error(`A receiver exited with ${String(child.exitCode)}.`);
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    this.#write({ kind: 'kill', at: monotonicMs(), pid: child.pid });
  }
}
