import { fromBase64, toBase64 } from '../base64.ts';
import { sha256, tenantKey } from '../store/keys.ts';
import type {
  DeadLetter,
  DeadLetterFailure,
  ListedDeadLetter,
  StoredDeadLetter,
} from './dead-letter.ts';

/** How many failures of a letter are kept. */
export const MAX_FAILURES = 50;

/** A dead letter as a database keeps it: in texts that all of them store unchanged. */
export interface DeadLetterRecord {
  id: string;
  /** For the filter; `''` if the letter has none. */
  eventName: string;
  /** For the filter; `''` if the letter has none. */
  tenant: string;
  reason: DeadLetter['reason'];
  /** Milliseconds since the epoch. */
  failedAt: number;
  /** JSON, without the body. */
  letter: string;
  /** Base64. A list leaves it out. */
  body: string;
  /** The failure that made it a dead letter; JSON. */
  failure: string;
}

type LetterJson = Pick<
  DeadLetter,
  'reason' | 'tenant' | 'webhookId' | 'eventName' | 'callId' | 'key'
> & {
  bytes: number;
  timestamp: number;
};
type FailureJson = Omit<DeadLetterFailure, 'at'> & { at: number };

/** The id of a letter: the same for the same event, or for the same delivery if it has no key. */
export async function deadLetterId(
  letter: Pick<DeadLetter, 'tenant' | 'key' | 'webhookId'>,
): Promise<string> {
  const { tenant, key, webhookId } = letter;
  const ofDelivery = () => `webhook ${tenantKey(tenant, webhookId)}`;
  // The key of a tenant's event begins with the tenant.
  const hash = await sha256(key === undefined ? ofDelivery() : `event ${key}`);
  return hash.slice(0, 24);
}

/** What a database keeps of a letter that is put into it. */
export async function toRecord(letter: DeadLetter): Promise<DeadLetterRecord> {
  const { reason, tenant, webhookId, eventName, callId, key, failedAt, source, attempt } = letter;
  const kept = {
    ...{ reason, tenant, webhookId, eventName, callId, key },
    bytes: letter.rawBody.length,
    timestamp: letter.timestamp.getTime(),
  };
  return {
    id: letter.id ?? (await deadLetterId(letter)),
    eventName: storableName(eventName),
    tenant: storableName(tenant),
    reason,
    failedAt: failedAt.getTime(),
    letter: JSON.stringify(kept),
    body: toBase64(letter.rawBody),
    failure: toFailureJson({ at: failedAt, source, attempt, error: letter.errorText }),
  };
}

/** The letter of a record, without its body. @param failures JSON, oldest first; at least one */
export function fromRecord(
  id: string,
  letter: string,
  failures: readonly string[],
  claimedUntil?: Date,
): ListedDeadLetter {
  const { timestamp, ...kept } = JSON.parse(letter) as LetterJson;
  const history = failures.map((text): DeadLetterFailure => {
    const { at, ...failure } = JSON.parse(text) as FailureJson;
    return { at: new Date(at), ...failure };
  });
  const { at, ...last } = history.at(-1) as DeadLetterFailure;
  return {
    id,
    ...kept,
    ...last,
    timestamp: new Date(timestamp),
    failedAt: at,
    history,
    ...(claimedUntil && { claimedUntil }),
  };
}

/** A letter with its body. @param body base64, as a record has it */
export const withBody = (letter: ListedDeadLetter, body: string): StoredDeadLetter => ({
  ...letter,
  rawBody: fromBase64(body),
});

/** A failure as databases keep it. */
export const toFailureJson = ({ at, ...failure }: DeadLetterFailure): string =>
  JSON.stringify({ at: at.getTime(), ...failure } satisfies FailureJson);

/** The name of an event or a tenant as databases can keep and compare it: no NUL, no half of a surrogate pair. */
export const storableName = (name = ''): string =>
  name.slice(0, 256).replace(/[\0\p{Surrogate}]/gu, '\ufffd');
