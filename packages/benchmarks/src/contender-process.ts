import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a contender does when the harness asks for it. `stop` runs before its process ends. */
export type Answers = Readonly<Record<string, (argument: never) => unknown>>;

interface Question {
  readonly ask: string;
  readonly argument: unknown;
}
type Reply = { readonly value: unknown } | { readonly error: string };

const PROGRAM = fileURLToPath(import.meta.url);

/** A contender in a process of its own, seen from the harness. */
export class ContenderProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /**
   * @param module the URL of a module that exports `serve`
   * @param args what its `serve` gets
   */
  static async start(
    module: string,
    args: readonly string[],
    nodeArgs: readonly string[] = [],
  ): Promise<ContenderProcess> {
    const child = fork(PROGRAM, [module, ...args], {
      execArgv: [...process.execArgv, ...nodeArgs],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    await reply(child);
    return new ContenderProcess(child);
  }

  async ask<Value>(ask: string, argument?: unknown): Promise<Value> {
    this.#child.send({ ask, argument } satisfies Question);
    return (await reply(this.#child)) as Value;
  }

  /** Ends the process and waits until it has ended. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }
}

async function reply(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const exit = once(child, 'exit', ended).then(() => {
    throw new Error(`A contender's process ended: ${child.spawnargs.join(' ')}`);
  });
  exit.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', ended), exit])) as [Reply];
    if ('error' in message) throw new Error(`${child.spawnargs.join(' ')}\n${message.error}`);
    return message.value;
  } finally {
    ended.abort();
  }
}

export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** In the process of the contender. */
async function serve(module: string, args: readonly string[]): Promise<void> {
  const program = (await import(module)) as {
    serve(...args: readonly string[]): Promise<Answers>;
  };
  const answers = await program.serve(...args);
  process.on('message', ({ ask, argument }: Question) => {
    void Promise.resolve()
      .then(() => answers[ask]?.(argument as never))
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ error: String((error as Error).stack) }),
      )
      .then((message: Reply) => process.send?.(message));
  });
  process.on('disconnect', () => {
    void Promise.resolve(answers['stop']?.(undefined as never)).finally(() => process.exit());
  });
  process.send?.({ value: undefined } satisfies Reply);
}

const [, program, module, ...args] = process.argv;
if (program === PROGRAM && module !== undefined) void serve(module, args);
