import type {
  DeadLetters,
  Outcome,
  OutcomeCode,
  Receiver,
  StoredDeadLetter,
} from '@call-webhooks/core';
import type { DeadLetterFailure } from '@call-webhooks/core/stores';
import type { RedriveResult } from './options.ts';

/** What became of one letter. */
export interface LetterResult {
  readonly result: keyof RedriveResult;
  readonly outcome?: OutcomeCode;
  readonly letter?: StoredDeadLetter;
}

interface Dependencies {
  readonly receiver: Pick<Receiver, 'deliver'>;
  readonly deadLetters: DeadLetters;
  /** That of letters without one. */
  readonly defaultTenant: string | undefined;
  /** Milliseconds. */
  readonly leaseFor: number;
}

/**
 * What an outcome means for the letter. With all others it is kept and skipped.
 */
const RESULTS: Partial<Record<OutcomeCode, { result: keyof RedriveResult; keep: boolean }>> = {
  handled: { result: 'handled', keep: false },
  queued: { result: 'queued', keep: false },
  duplicate: { result: 'alreadyHandled', keep: false },
  deadline: { result: 'unknown', keep: true },
  'dead-lettered': { result: 'failed', keep: true },
  'handler-failed': { result: 'failed', keep: true },
  'invalid-payload': { result: 'failed', keep: true },
  'body-too-large': { result: 'failed', keep: true },
};

/** With these no further letter could be run. */
const HOPELESS: readonly OutcomeCode[] = ['store-unavailable', 'shutting-down'];

/**
 * Claims a letter, runs it, and settles it or gives it back.
 * @throws what the store of letters or the receiver throws
 */
export async function redriveLetter(
  id: string,
  { receiver, deadLetters, defaultTenant, leaseFor }: Dependencies,
): Promise<LetterResult> {
  const token = crypto.randomUUID();
  const letter = await deadLetters.claim(id, { token, leaseMs: leaseFor });
  if (!letter) return { result: 'skipped' };
  const giveBack = (failure?: DeadLetterFailure) => deadLetters.giveBack(id, token, failure);
  // Only its queue knows whether such a job was run since. The store has its event as handed over.
  if (letter.source === 'queue') {
    await giveBack();
    return { result: 'skipped', letter };
  }

  const claim = keepClaim(() => deadLetters.extend(id, token, leaseFor), leaseFor);
  let outcome: Outcome;
  try {
    outcome = await receiver.deliver(letter, {
      ...{ source: 'redrive', signal: claim.lost },
      tenant: letter.tenant ?? defaultTenant,
    });
  } catch (error) {
    await giveBack();
    throw error;
  } finally {
    claim.stop();
  }

  const { result, keep } = RESULTS[outcome.outcome] ?? { result: 'skipped', keep: true };
  if (!keep) await deadLetters.settle(id, token);
  else await giveBack(result === 'failed' ? failureOf(outcome, letter) : undefined);
  if (HOPELESS.includes(outcome.outcome)) throw outcome.error ?? new Error(outcome.outcome);
  return { result, outcome: outcome.outcome, letter };
}

const failureOf = (outcome: Outcome, { attempt }: StoredDeadLetter): DeadLetterFailure => ({
  at: new Date(),
  source: 'redrive',
  attempt: outcome.attempt ?? attempt,
  error: outcome.error?.message ?? outcome.outcome,
});

/** Renews a claim at every third of its length. `lost` is aborted if somebody else may have it. */
function keepClaim(extend: () => Promise<boolean>, leaseMs: number) {
  const controller = new AbortController();
  const renew = async () => {
    try {
      if (!(await extend())) controller.abort();
    } catch {
      // The store does not answer: the next renewal or the end will tell.
    }
  };
  const timer = setInterval(() => void renew(), leaseMs / 3);
  return {
    lost: controller.signal,
    stop: () => {
      clearInterval(timer);
    },
  };
}
