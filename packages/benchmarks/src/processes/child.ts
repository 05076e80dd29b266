import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Question, Ready, Reply } from './messages.ts';

/** The process of a contender, seen from the harness. */
export class Child {
  readonly ready: Ready;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, ready: Ready) {
    this.#process = process;
    this.ready = ready;
  }

  /**
   * @param args what the program gets
   * @param nodeArgs for Node; `BENCH_NODE_ARGS` adds to them, `--cpu-prof` for instance
   */
  static async start(
    program: 'http' | 'verify' | 'store' | 'engine' | 'receiver',
    args: readonly string[],
    nodeArgs: readonly string[] = [],
  ): Promise<Child> {
    const path = fileURLToPath(new URL(`./${program}.js`, import.meta.url));
    const execArgv = [...nodeArgs, ...(process.env['BENCH_NODE_ARGS']?.split(' ') ?? [])];
    const child = fork(path, args, { execArgv, env: { ...process.env, NODE_ENV: 'production' } });
    return new Child(child, await message<Ready>(child));
  }

  ask(question: Question): Promise<Reply> {
    this.#process.send(question);
    return message<Reply>(this.#process);
  }

  /** Ends the process and waits until it has ended. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}

async function message<Message>(child: ChildProcess): Promise<Message> {
  const ended = new AbortController();
  const exit = once(child, 'exit', ended).then(() => {
    throw new Error(`A contender's process ended: ${child.spawnargs.join(' ')}`);
  });
  exit.catch(() => undefined);
  try {
    const [value] = (await Promise.race([once(child, 'message', ended), exit])) as [Message];
    return value;
  } finally {
    ended.abort();
  }
}
