import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { logLines } from './log-lines.ts';

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;

/** A program in its own process. */
export interface Child {
  /** Its URL, once it listens. Rejects if it exits before that. */
  readonly url: Promise<string>;
  readonly ended: Promise<unknown>;
  /** Sends a request, and resolves with the answer. One at a time. */
  ask(request: object): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts a program that sends `{ url }` when it is ready, and prefixes its output with its name.
 * @param file relative to this folder
 */
export function startChild(name: string, file: string, env = process.env): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  // In its own process group: Ctrl+C only reaches this process, which then stops the others in order.
  const child = fork(path, { env, silent: true, detached: true });
  const prefix = `  ${name} │ `;
  for (const input of [child.stdout, child.stderr])
    if (input)
      createInterface({ input }).on('line', (text) => {
        for (const line of logLines(text, prefix, process.stdout.columns))
          console.log(`${styleText('dim', prefix)}${line.slice(prefix.length)}`);
      });
  const ended = once(child, 'exit');
  const ready = once(child, 'message').then(([message]) => (message as { url: string }).url);
  const early = ended.then(() => Promise.reject(new Error(`The ${name} exited.`)));
  return {
    url: Promise.race([ready, early]),
    ended,
    async ask(request) {
      const answered = once(child, 'message');
      child.send(request);
      const [answer] = (await Promise.race([answered, early])) as [unknown];
      return answer;
    },
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
