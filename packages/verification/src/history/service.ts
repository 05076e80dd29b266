import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServiceInput } from './programs/service.ts';
import { FLAGS } from './member.ts';

/** The service in a process of its own, which no fault strikes. */
export interface Service {
  /**
   * Resolves when its attempts are in the journal.
   * @throws Error when it ended before
   */
  readonly done: Promise<void>;
  stop(): void;
}

/** Starts it; it calls at once. */
export async function startService(input: ServiceInput): Promise<Service> {
  const path = fileURLToPath(new URL('./programs/service.ts', import.meta.url));
  const child = fork(path, [JSON.stringify(input)], { execArgv: FLAGS });
  const done = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`The service ended with ${String(code)}.`);
  });
  await Promise.race([once(child, 'message'), done]);
  return {
    done,
    stop() {
      child.kill('SIGKILL');
    },
  };
}
