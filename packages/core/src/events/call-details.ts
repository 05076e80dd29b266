/**
 * The names of the seven fields that the spec describes by meaning and does not show.
 * The defaults are unconfirmed guesses; nothing else in this package depends on them.
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

/** Names of your own for some of the seven fields: `{ calledNumber: 'dialedNumber' }`. */
export type FieldNames = { [Meaning in keyof typeof DEFAULT_FIELD_NAMES]?: string | undefined };

/** The seven fields by meaning. What is missing or odd in the body is `undefined`. */
export interface CallDetails {
  /** The service user who placed the call. */
  placedBy: string | undefined;
  /** When the call record was created. */
  createdAt: Date | undefined;
  /** The number that was called. */
  calledNumber: string | undefined;
  calledEmail: string | undefined;
  calledName: string | undefined;
  /** When the call was dialed. */
  dialedAt: Date | undefined;
  /** When the call ended; only on `call:completed`. */
  endedAt: Date | undefined;
}

/** The details of a call by meaning (spec, "Call webhook body"). Never throws. */
export function callDetails(event: object, fieldNames: FieldNames = {}): CallDetails {
  const names = { ...DEFAULT_FIELD_NAMES, ...fieldNames };
  const field = (meaning: keyof CallDetails): unknown => {
    const name = names[meaning];
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

/** Epoch milliseconds, or an ISO 8601 text. */
function time(value: unknown): Date | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)))
    return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
