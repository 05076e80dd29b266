import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Question, Ready, Reply } from './protocol.ts';

/** A contender's process, seen from the harness. */
export class Child {
  readonly ready: Ready;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, ready: Ready) {
    this.#process = process;
    this.ready = ready;
  }

  static async start(entry: 'http-process' | 'verify-process', name: string): Promise<Child> {
    const path = fileURLToPath(new URL(`./${entry}.js`, import.meta.url));
    const execArgv = process.env['BENCH_NODE_ARGS']?.split(' ') ?? [];
    const child = fork(path, [name], { execArgv, env: { ...process.env, NODE_ENV: 'production' } });
    return new Child(child, await message<Ready>(child, name));
  }

  async ask(question: Question): Promise<Reply> {
    this.#process.send(question);
    return message<Reply>(this.#process, 'A contender');
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
