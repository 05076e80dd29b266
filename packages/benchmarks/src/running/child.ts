import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Question, Ready, Reply, StoreQuestion, StoreReply } from './protocol.ts';

/** A contender's process, seen from the harness. */
export class Child {
  readonly ready: Ready;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, ready: Ready) {
    this.#process = process;
    this.ready = ready;
  }

  /** @param args for its Node; more of them come from `BENCH_NODE_ARGS`, `--cpu-prof` for instance */
  static async start(
    entry: 'http-process' | 'verify-process' | 'store-process',
    name: string,
    args: readonly string[] = [],
  ): Promise<Child> {
    const path = fileURLToPath(new URL(`./${entry}.js`, import.meta.url));
    const execArgv = [...args, ...(process.env['BENCH_NODE_ARGS']?.split(' ') ?? [])];
    const child = fork(path, [name], { execArgv, env: { ...process.env, NODE_ENV: 'production' } });
    return new Child(child, await message<Ready>(child, name));
  }

  async ask(question: Question): Promise<Reply>;
  async ask(question: StoreQuestion): Promise<StoreReply>;
  async ask(question: Question | StoreQuestion): Promise<Reply | StoreReply> {
    this.#process.send(question);
    return message(this.#process, 'A contender');
  }

  /** Ends the process and waits for its end. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}

async function message<Message>(child: ChildProcess, name: string): Promise<Message> {
  const ended = new AbortController();
  const exit = once(child, 'exit', ended).then(() => {
    throw new Error(`${name} ended by itself.`);
  });
  exit.catch(() => undefined);
  try {
    const [value] = (await Promise.race([once(child, 'message', ended), exit])) as [Message];
    return value;
  } finally {
    ended.abort();
  }
}
