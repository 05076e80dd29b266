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
 * `undefined` means that there is no such field. Two properties cannot have the same field.
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
  const details: Partial<Record<keyof CallDetails, unknown>> = {};
  for (const property of CALL_PROPERTIES) details[property] = detailOf(event, property, fieldNames);
  return details as CallDetails;
}

/** The properties of `context.call`, in their order. */
export const CALL_PROPERTIES = Object.keys(DEFAULT_FIELD_NAMES) as (keyof CallDetails)[];

/** The name of a field; `undefined` if there is no such field. */
export const fieldNameOf = (property: keyof CallDetails, fieldNames: FieldNames) =>
  property in fieldNames ? fieldNames[property] : DEFAULT_FIELD_NAMES[property];

/** The value of a field as it was sent. */
export const fieldOf = (event: object, name: string): unknown =>
  Object.hasOwn(event, name) ? (event as Record<string, unknown>)[name] : undefined;

/** One property of `context.call`. */
export function detailOf(
  event: object,
  property: keyof CallDetails,
  fieldNames: FieldNames,
): string | Date | undefined {
  const name = fieldNameOf(property, fieldNames);
  if (name === undefined) return undefined;
  return isTime(property) ? time(fieldOf(event, name)) : text(fieldOf(event, name));
}

/** Whether a property is a time, and not a text. */
export const isTime = (property: keyof CallDetails): boolean => property.endsWith('At');

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

/** Epoch milliseconds, or a string in ISO 8601, which is in UTC if it has no zone. */
function time(value: unknown): Date | undefined {
  const ms = typeof value === 'string' ? isoTime(value) : value;
  if (typeof ms !== 'number') return undefined;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
