import { isoTime } from '../iso-time.ts';

/**
 * The names of the seven fields that the spec describes by meaning but does not name. These defaults
 * are guesses, and nothing else in this package depends on them.
 */
export const DEFAULT_FIELD_NAMES = {
  placedBy: 'userId',
  createdAt: 'createdAt',
  calledNumber: 'toPhoneNumber',
  calledEmail: 'recipientEmail',
  calledName: 'recipientName',
  dialedAt: 'startedAt',
  endedAt: 'endedAt',
} as const;

/**
 * Your names for some of the seven fields, such as `{ calledNumber: 'dialedNumber' }`. Names that are
 * left out keep their defaults, which are guesses, since the service does not document them.
 * `undefined` means that there is no such field.
 */
export type FieldNames = { [Meaning in keyof typeof DEFAULT_FIELD_NAMES]?: string | undefined };

/**
 * The seven fields of a call that the spec describes by meaning, without naming them ("Call webhook
 * body"). A field that is missing or has another type is `undefined`. Times may be sent as epoch
 * milliseconds or in ISO 8601; a time without a zone is in UTC.
 */
export interface CallDetails {
  /** The user of the service who placed the call. */
  placedBy: string | undefined;
  /** The time at which the call record was created. */
  createdAt: Date | undefined;
  /** The phone number that was called. */
  calledNumber: string | undefined;
  /** The email address of the person who was called, if the service knows it. */
  calledEmail: string | undefined;
  /** The name of the person who was called, if the service knows it. */
  calledName: string | undefined;
  /** The time at which the call was dialed. */
  dialedAt: Date | undefined;
  /** The time at which the call ended. Only `call:completed` has it. */
  endedAt: Date | undefined;
}

/**
 * Reads the seven fields of a call that the spec describes without naming them ("Call webhook body").
 * It never throws. Handlers have the result as `context.call`.
 * @param event the body of the event
 * @param fieldNames names that differ from the default ones
 * @example
 * callDetails(event, { calledNumber: 'dialedNumber' }).calledNumber
 */
export function callDetails(event: object, fieldNames: FieldNames = {}): CallDetails {
  const field = (meaning: keyof CallDetails): unknown => {
    const name = meaning in fieldNames ? fieldNames[meaning] : DEFAULT_FIELD_NAMES[meaning];
    return name !== undefined && Object.hasOwn(event, name)
      ? (event as Record<string, unknown>)[name]
      : undefined;
  };
  return {
    placedBy: text(field('placedBy')),
    createdAt: time(field('createdAt')),
    calledNumber: text(field('calledNumber')),
    calledEmail: text(field('calledEmail')),
    calledName: text(field('calledName')),
    dialedAt: time(field('dialedAt')),
    endedAt: time(field('endedAt')),
  };
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** Epoch milliseconds, or a string in ISO 8601, which is in UTC if it has no zone. */
function time(value: unknown): Date | undefined {
  const ms = typeof value === 'string' ? isoTime(value) : value;
  if (typeof ms !== 'number') return undefined;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
