import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { monotonicMs, type Journal } from './journal.ts';
import type { ReceiverInput } from './programs/receiver-input.ts';
import type { ServiceInput, ServiceProgress } from './programs/service.ts';

/** Runs a program from its TypeScript sources; its input is JSON in the only argument. */
function forkProgram(program: string, input: unknown): ChildProcess {
  const path = fileURLToPath(new URL(`./programs/${program}.ts`, import.meta.url));
  return fork(path, [JSON.stringify(input)], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
}

/** A receiver or a worker in a process that can be killed, frozen and restarted. */
export class ManagedProcess {
  readonly #program: 'receiver' | 'worker';
  readonly #input: ReceiverInput;
  readonly #journal: Journal;
  #child: ChildProcess | undefined;

  constructor(program: 'receiver' | 'worker', input: ReceiverInput, journal: Journal) {
    this.#program = program;
    this.#input = input;
    this.#journal = journal;
  }

  /**
   * Starts the program and waits until it is ready.
   * @throws Error when it exits instead
   */
  async start(): Promise<void> {
    const child = forkProgram(this.#program, this.#input);
    this.#child = child;
    const exited = once(child, 'exit').then(() => 'exited' as const);
    if ((await Promise.race([once(child, 'message'), exited])) === 'exited')
      throw new Error(`A ${this.#program} exited with ${String(child.exitCode)}.`);
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const at = monotonicMs();
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const { pid } = child;
    this.#journal.write({ kind: 'fault', fault: 'kill', pid, at, until: monotonicMs() });
  }

  /** Sends SIGSTOP, as if the machine were suspended; `resume` sends SIGCONT. */
  freeze(): { resume: () => void } {
    const child = this.#child;
    const at = monotonicMs();
    child?.kill('SIGSTOP');
    return {
      resume: () => {
        child?.kill('SIGCONT');
        if (child?.pid === undefined) return;
        const { pid } = child;
        this.#journal.write({ kind: 'fault', fault: 'freeze', pid, at, until: monotonicMs() });
      },
    };
  }
}

/** The service in a process of its own, which no fault affects. */
export interface ServiceProcess {
  /**
   * Resolves when all of its attempts are in the journal.
   * @throws Error when it exited before
   */
  readonly done: Promise<void>;
  /** How many calls it has placed. */
  readonly placed: number;
  stop(): void;
}

/** Starts the service, which places its calls at once. */
export async function startService(input: ServiceInput): Promise<ServiceProcess> {
  const child = forkProgram('service', input);
  const done = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`The service exited with ${String(code)}.`);
  });
  await Promise.race([once(child, 'message'), done]);
  let placed = 0;
  child.on('message', (message) => ({ placed } = message as ServiceProgress));
  return {
    done,
    get placed() {
      return placed;
    },
    stop() {
      child.kill('SIGKILL');
    },
  };
}
