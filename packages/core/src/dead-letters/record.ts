import { fromBase64, toBase64 } from '#platform';
import { checkOptions, option } from '../check-options.ts';
import { invalidCursor } from '../errors.ts';
import { sha256, storableText, tenantKey } from '../store/keys.ts';
import type {
  DeadLetter,
  DeadLetterFailure,
  DeadLetterFilter,
  DeadLetterPage,
  DeadLetterQuery,
  ListedDeadLetter,
  StoredDeadLetter,
} from './dead-letter.ts';

/** How many failures of a letter are kept: the first one, and the newest. */
export const MAX_FAILURES = 50;

/**
 * Adds a failure to the failures of a dead letter, oldest first. Of more than `MAX_FAILURES`, the second one is
 * dropped: the first one says since when it has been a dead letter.
 */
export function withFailure<Failure>(
  [first, ...others]: readonly Failure[],
  failure: Failure,
): Failure[] {
  if (first === undefined) return [failure];
  return [first, ...[...others, failure].slice(1 - MAX_FAILURES)];
}

/** A dead letter as a database keeps it: in texts that all of them store unchanged. */
export interface DeadLetterRecord {
  id: string;
  /** For the filter, as `tenant` is; `''` if the letter has none. */
  eventName: string;
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
    reason,
    tenant,
    webhookId,
    eventName,
    callId,
    key,
    bytes: letter.rawBody.length,
    timestamp: letter.timestamp.getTime(),
  };
  // All of it is read at once: whoever has the letter may change it later.
  const record = {
    eventName: storableName(eventName),
    tenant: storableName(tenant),
    reason,
    failedAt: failedAt.getTime(),
    letter: JSON.stringify(kept),
    body: toBase64(letter.rawBody),
    failure: toFailureJson({
      ...{ at: failedAt, source, attempt, error: letter.errorText },
      ...(letter.errorStack !== undefined && { stack: letter.errorStack }),
    }),
  };
  return { id: letter.id ?? (await deadLetterId(letter)), ...record };
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

/** The name of an event or a tenant as databases can keep and compare it. */
export const storableName = (name = ''): string => storableText(name.slice(0, 256));

/** Where a page of the list begins: after this letter. */
export interface DeadLetterPosition {
  /** Milliseconds since the epoch. */
  failedAt: number;
  id: string;
}

/** A checked query, as a store uses it. */
export interface CheckedDeadLetterQuery {
  eventName: string | undefined;
  reason: string | undefined;
  tenant: string | undefined;
  /** Milliseconds since the epoch; the first that is meant. */
  since: number;
  /** The first that is not meant any more. */
  until: number;
  limit: number;
  after: DeadLetterPosition | undefined;
}

/** The last millisecond that a `Date` can have. */
const END_OF_TIME = 8.64e15;
const MAX_CURSOR = 1_000;
const LETTER_ID = /^[\w:-]{1,200}$/;

/** The cursor of the page that comes after a letter. The id of a job may be any text. */
const cursorOf = ({ failedAt, id }: DeadLetterPosition): string =>
  `${failedAt.toString(36)}.${encodeURIComponent(id)}`;

/** @throws WebhookError `invalid-cursor` for a text that `cursorOf` does not give */
function positionOf(cursor: unknown, isId: (id: string) => boolean): DeadLetterPosition {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR) throw invalidCursor();
  const dot = cursor.indexOf('.');
  try {
    const failedAt = parseInt(cursor.slice(0, dot), 36);
    const position = { failedAt, id: decodeURIComponent(cursor.slice(dot + 1)) };
    const isPossible = failedAt >= 0 && failedAt <= END_OF_TIME && isId(position.id);
    if (isPossible && cursorOf(position) === cursor) return position;
  } catch {
    // it is not encoded as we do
  }
  throw invalidCursor();
}

const rules = () => ({
  eventName: option.optional(option.text(/^/, 'expected the name of an event')),
  reason: option.optional(
    option.text(
      /^(handler-failed|invalid-payload)$/,
      "expected 'handler-failed' or 'invalid-payload'",
    ),
  ),
  tenant: option.optional(
    option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'),
  ),
  since: option.optional(option.date()),
  until: option.optional(option.date()),
  limit: option.default(option.count(1, 1_000), 100),
});

/**
 * Checks a query of a list of dead letters and fills in the defaults.
 * @param isId whether a text may be the id of a letter, for lists whose ids are not those of `deadLetterId`
 * @throws WebhookError `invalid-options`, or `invalid-cursor` for a cursor that no list gave
 */
export function checkDeadLetterQuery(
  query: DeadLetterQuery | DeadLetterFilter = {},
  isId = (id: string): boolean => LETTER_ID.test(id),
): CheckedDeadLetterQuery {
  const { cursor, ...asked }: DeadLetterQuery = query;
  const { eventName, tenant, since, until, ...rest } = checkOptions('list', rules(), asked);
  return {
    reason: rest.reason,
    limit: rest.limit,
    eventName: eventName === undefined ? undefined : storableName(eventName),
    tenant: tenant === undefined ? undefined : storableName(tenant),
    // No letter failed before 1970, and Postgres knows no time before 4713 BC.
    since: Math.max(0, since?.getTime() ?? 0),
    until: Math.max(0, until?.getTime() ?? END_OF_TIME),
    after: cursor === undefined ? undefined : positionOf(cursor, isId),
  };
}

/**
 * A page of the list.
 * @param letters one more than the limit, if there are as many
 */
export function deadLetterPage(letters: ListedDeadLetter[], limit: number): DeadLetterPage {
  const page = letters.slice(0, limit);
  const last = page.at(-1);
  if (!last || letters.length <= limit) return { letters: page };
  return { letters: page, cursor: cursorOf({ failedAt: last.failedAt.getTime(), id: last.id }) };
}
