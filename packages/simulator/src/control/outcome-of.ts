import { OUTCOMES, type OutcomeCode } from '@call-webhooks/core';
import type { AttemptResponse } from '../deliveries/delivery.ts';

/** `{"outcome":"…"}` is short. A longer body comes from another server. */
const LONGEST = 200;

/** The outcome that a receiver of these packages names in its response, if it is one of theirs. */
export function outcomeOf(response: AttemptResponse | undefined): OutcomeCode | undefined {
  if (response?.kind !== 'status' || response.body.length > LONGEST) return undefined;
  const [, code = ''] = /"outcome"\s*:\s*"([a-z-]+)"/.exec(response.body) ?? [];
  return isOutcome(code) && OUTCOMES[code].status === response.status ? code : undefined;
}

const isOutcome = (code: string): code is OutcomeCode => Object.hasOwn(OUTCOMES, code);
