import { checkOptions, option } from '../check-options.ts';
import type {
  DeadLetterFilter,
  DeadLetterPage,
  DeadLetterQuery,
  ListedDeadLetter,
} from './dead-letter.ts';
import { storableName } from './record.ts';

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
const CURSOR = /^([0-9a-z]{1,11})\.([\w:-]{1,200})$/;

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
  cursor: option.optional(option.text(CURSOR, 'expected the cursor of a page')),
});

/**
 * Checks a query of a list of dead letters and fills in the defaults.
 * @throws WebhookError `invalid-options`
 */
export function checkDeadLetterQuery(
  query: DeadLetterQuery | DeadLetterFilter = {},
): CheckedDeadLetterQuery {
  const { eventName, tenant, since, until, cursor, ...rest } = checkOptions('list', rules(), query);
  const [, failedAt = '', id = ''] = CURSOR.exec(cursor ?? '') ?? [];
  return {
    reason: rest.reason,
    limit: rest.limit,
    eventName: eventName === undefined ? undefined : storableName(eventName),
    tenant: tenant === undefined ? undefined : storableName(tenant),
    since: since?.getTime() ?? 0,
    until: until?.getTime() ?? END_OF_TIME,
    after: cursor === undefined ? undefined : { failedAt: parseInt(failedAt, 36), id },
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
  return { letters: page, cursor: `${last.failedAt.getTime().toString(36)}.${last.id}` };
}
