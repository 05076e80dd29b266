import type { HandlerContext, Outcome, ReceiverOptions } from '@call-webhooks/core';
import { z } from 'zod';

/** Whether the handler fails at its first attempt: about one event in eight, depending on the key. */
const isFlaky = (key: string) => Buffer.from(key).reduce((sum, byte) => sum + byte, 0) % 8 === 0;

/** Handlers whose effects can be compared with what was sent. */
export function effects() {
  const done = new Map<string, string>();
  const attempts = new Map<string, number>();
  const outcomes: Outcome[] = [];
  const acknowledgedTooEarly: Outcome[] = [];

  function run(_event: unknown, { key = '', rawBody }: HandlerContext): void {
    attempts.set(key, (attempts.get(key) ?? 0) + 1);
    if (isFlaky(key) && attempts.get(key) === 1) throw new Error('the CRM is down');
    done.set(key, Buffer.from(rawBody).toString());
  }

  const options = {
    on: { 'call:started': run, 'call:completed': run, 'call:recording-available': run },
    custom: {
      schema: z.object({ ticket: z.string() }),
      key: (payload: unknown) => (payload as { ticket: string }).ticket,
      handle: run,
    },
    logger: { warn: () => undefined, error: () => undefined },
    onOutcome(outcome: Outcome) {
      outcomes.push(outcome);
      if (outcome.status < 300 && !done.has(outcome.key ?? '')) acknowledgedTooEarly.push(outcome);
    },
  } satisfies Partial<ReceiverOptions>;

  return { options, done, outcomes, acknowledgedTooEarly };
}
