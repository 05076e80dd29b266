import { counterParts, type OutcomeRow } from '@call-webhooks/core/stores';
import type { CountersAt } from './evidence.ts';

/**
 * The event of the deliveries that `call-webhooks check` and `doctor` sign. The service sends none of this name, so they
 * say nothing about a rule. Requests that are not verified have no name, whatever they claim.
 */
export const CHECK_EVENT = 'call-webhooks:check';

/** Where the name of the event stands among the parts of a name, by the first part; for others, in place of `*`. */
const PLACES = {
  minutes: { outcome: 3, late: 3 },
  times: { deliveryMs: 1, handlerMs: 1 },
  arrivals: { '*': 0 },
  marks: { ack: 2, failed: 2 },
} as const satisfies Record<string, Readonly<Record<string, number>>>;

type Kind = keyof typeof PLACES;

const isCheckName = (name: string, kind: Kind): boolean => {
  // Most names are quickly passed.
  if (!name.includes(CHECK_EVENT)) return false;
  const parts = counterParts(name);
  const places: Readonly<Record<string, number>> = PLACES[kind];
  const place = places[parts[0] ?? ''] ?? places['*'];
  return place !== undefined && parts[place] === CHECK_EVENT;
};

/** Counters or marks by name, without those of checks. */
export const withoutChecks = (
  counted: Readonly<Record<string, number>>,
  kind: Kind,
): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counted).filter(([name]) => !isCheckName(name, kind)));

/** The same for each period that has any others. */
export const periodsWithoutChecks = (counters: CountersAt, kind: Kind): CountersAt =>
  new Map(
    [...counters].flatMap(([at, counted]) => {
      const left = withoutChecks(counted, kind);
      return Object.keys(left).length > 0 ? [[at, left] as const] : [];
    }),
  );

export const isNoCheck = ({ eventName }: Pick<OutcomeRow, 'eventName'>): boolean =>
  eventName !== CHECK_EVENT;
