import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { monotonicMs } from './clock.ts';
import type { Journal } from './journal.ts';
import type { ProgramInput } from './programs/input.ts';

/** How a program of ours is run from its sources. */
export const FLAGS = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

/** A receiver or a worker, in a process that can be killed, frozen and started again. */
export class Member {
  readonly #program: 'receiver' | 'worker';
  readonly #input: ProgramInput;
  readonly #journal: Journal;
  #child: ChildProcess | undefined;

  constructor(program: 'receiver' | 'worker', input: ProgramInput, journal: Journal) {
    this.#program = program;
    this.#input = input;
    this.#journal = journal;
  }

  /**
   * Starts it, and waits until it is ready.
   * @throws Error when it ends by itself
   */
  async start(): Promise<void> {
    const path = fileURLToPath(new URL(`./programs/${this.#program}.ts`, import.meta.url));
    const child = fork(path, [JSON.stringify(this.#input)], { execArgv: FLAGS });
    this.#child = child;
    const ended = once(child, 'exit').then(() => 'ended' as const);
    if ((await Promise.race([once(child, 'message'), ended])) === 'ended')
      throw new Error(`A ${this.#program} ended with ${String(child.exitCode)}.`);
  }

  /** `kill -9`; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const at = monotonicMs();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const { pid } = child;
    this.#journal.write({ kind: 'fault', fault: 'kill', pid, at, until: monotonicMs() });
  }

  /** SIGSTOP, until `thaw` is called: as a machine that was suspended. */
  freeze(): { thaw: () => void } {
    const child = this.#child;
    const at = monotonicMs();
    child?.kill('SIGSTOP');
    return {
      thaw: () => {
        child?.kill('SIGCONT');
        if (child?.pid === undefined) return;
        const { pid } = child;
        this.#journal.write({ kind: 'fault', fault: 'freeze', pid, at, until: monotonicMs() });
      },
    };
  }
}
