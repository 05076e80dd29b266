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
 * Your own names for some of the seven fields: `{ calledNumber: 'dialedNumber' }`. `undefined` says
 * that there is no such field. Names that are left out keep their defaults, which are guesses.
 */
export type FieldNames = { [Meaning in keyof typeof DEFAULT_FIELD_NAMES]?: string | undefined };

/**
 * The seven fields by meaning. Times are `Date`s: they are sent as epoch milliseconds or in ISO 8601.
 * A field that is missing or has another type is `undefined`.
 */
export interface CallDetails {
  /** The service user who placed the call. */
  placedBy: string | undefined;
  /** When the call record was created. */
  createdAt: Date | undefined;
  /** The number that was called. */
  calledNumber: string | undefined;
  /** The email address of the person called, if known. */
  calledEmail: string | undefined;
  /** The name of the person called, if known. */
  calledName: string | undefined;
  /** When the call was dialed. */
  dialedAt: Date | undefined;
  /** When the call ended; only on `call:completed`. */
  endedAt: Date | undefined;
}

/**
 * Reads the details of a call by meaning (spec, "Call webhook body"). Never throws.
 * @param fieldNames names that differ from `DEFAULT_FIELD_NAMES`
 * @example callDetails(event, { calledNumber: 'dialedNumber' }).calledNumber
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

/** Epoch milliseconds, or an ISO 8601 text. */
function time(value: unknown): Date | undefined {
  if (typeof value !== 'number' && (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)))
    return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
