import {
  createReceiver,
  generateSecret,
  memoryDeadLetters,
  type DeadLetters,
  type HandlerContext,
  type ReceiverOptions,
} from '@call-webhooks/core';
import { collectingLogger, deadLetter } from '@call-webhooks/contract-tests';

const logger = collectingLogger();

/** A receiver, its dead letters, and the keys that its handler ran. */
export function setup(
  options: Partial<ReceiverOptions> & { works?: (key: string) => boolean } = {},
) {
  const { works = () => true, ...more } = options;
  const deadLetters = memoryDeadLetters();
  const runs: string[] = [];
  const handle = (_event: unknown, { key = '' }: HandlerContext) => {
    runs.push(key);
    if (!works(key)) throw new Error('still broken');
  };
  const receiver = createReceiver({
    secret: generateSecret(),
    on: { 'call:started': handle, 'call:completed': handle },
    deadLetter: deadLetters,
    logger,
    ...more,
  });
  return { receiver, deadLetters, runs };
}

/** Puts so many letters. */
export async function fill(deadLetters: DeadLetters, count: number, more: object = {}) {
  const letters = Array.from({ length: count }, () => deadLetter(more));
  for (const letter of letters) await deadLetters.put(letter);
  return letters;
}
