import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ink } from './ink.ts';

/** Milliseconds from "please end" to "end". */
const GRACE_MS = 5_000;

/** A program in a process of its own. */
export interface Child {
  /** Where it listens, once it does. Rejects when it ends before that. */
  readonly url: Promise<string>;
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts a program that sends `{ url }` when it is ready. What it prints is shown with its name in
 * the margin.
 * @param file relative to this folder
 */
export function startChild(name: string, file: string, env = process.env): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  // A group of its own: Ctrl+C reaches this process alone, and this one ends the others in order.
  const child = fork(path, { env, silent: true, detached: true });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text.replace(/^(?=.)/gm, ink.dim(`  ${name} │ `)));
    });
  const ended = once(child, 'exit');
  const ready = once(child, 'message').then(([message]) => (message as { url: string }).url);
  const early = ended.then(() => Promise.reject(new Error(`The ${name} ended.`)));
  return {
    url: Promise.race([ready, early]),
    ended,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
