import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { monotonicMs, type Journal } from './journal.ts';
import { BEAT_MS, NOTICED_MS, type Beat } from './monitors.ts';
import type { ReceiverInput } from './programs/receiver-input.ts';
import type { ServiceInput, ServiceProgress } from './programs/service.ts';

/** Runs a program from its TypeScript sources; its input is JSON in the only argument. */
function forkProgram(program: string, input: unknown): ChildProcess {
  const path = fileURLToPath(new URL(`./programs/${program}.ts`, import.meta.url));
  return fork(path, [JSON.stringify(input)], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
}

/** Characters of stderr that are kept for the journal. */
const STDERR_KEPT = 4_000;

/** Passes stderr on, and returns how to get the end of it. */
function keepStderr(child: ChildProcess): () => string {
  let kept = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    kept = (kept + text).slice(-STDERR_KEPT);
  });
  return () => kept;
}

/** Its other messages are beats. */
async function isReady(child: ChildProcess): Promise<void> {
  for await (const [message] of on(child, 'message')) if (message === 'ready') return;
}

/** A receiver or a worker in a process that can be killed, frozen and restarted. */
export class ManagedProcess {
  readonly #program: 'receiver' | 'worker';
  readonly #input: ReceiverInput;
  readonly #journal: Journal;
  #child: ChildProcess | undefined;
  /** When it last told that it was alive, and how often it did. */
  #aliveAt = 0;
  #beats = 0;
  readonly #killed = new WeakSet<ChildProcess>();

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
    this.#aliveAt = monotonicMs();
    this.#watch(child);
    const exited = once(child, 'exit').then(() => 'exited' as const);
    if ((await Promise.race([isReady(child), exited])) === 'exited')
      throw new Error(`A ${this.#program} exited with ${String(child.exitCode)}.`);
  }

  /** Counts the signs of life. A process that is gone gives none, and its exit is in the journal. */
  get beats(): number {
    return this.#beats;
  }

  get isGone(): boolean {
    const child = this.#child;
    return child?.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || this.isGone) return;
    const { pid } = child;
    const at = monotonicMs();
    const gone = once(child, 'close');
    this.#killed.add(child);
    child.kill('SIGKILL');
    await gone;
    const until = monotonicMs();
    // A process that stood still before it was killed cannot say so any more.
    const stoodStill = { kind: 'fault', fault: 'stall', pid, at: this.#aliveAt, until } as const;
    if (at - this.#aliveAt > BEAT_MS + NOTICED_MS) this.#journal.write(stoodStill);
    this.#journal.write({ kind: 'fault', fault: 'kill', pid, at, until });
  }

  #watch(child: ChildProcess): void {
    const { pid = 0 } = child;
    const stderr = keepStderr(child);
    child.on('message', (message) => {
      if (child !== this.#child || typeof message !== 'object') return;
      this.#aliveAt = (message as Beat).aliveAt;
      this.#beats += 1;
    });
    child.on('close', (code, signal) => {
      if (this.#killed.has(child)) return;
      const end = signal ?? `code ${String(code)}`;
      const exit = { pid, program: this.#program, end, stderr: stderr() };
      this.#journal.write({ kind: 'exit', at: monotonicMs(), ...exit });
    });
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
  keepStderr(child);
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
