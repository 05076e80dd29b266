import { docsUrl } from '../errors.ts';
import { redactId } from '../report/redact.ts';
import { looksLikeField } from '../report/visible.ts';
import { safeLogger, type Logger } from '../report/logger.ts';
import { callDetails, DEFAULT_FIELD_NAMES, type FieldNames } from './call-details.ts';

const MAX_NAMES = 50;

/** An event whose call details were not found under the names in `fieldNames`. */
export interface UnknownFields {
  /** The name of the event. */
  eventName: string;
  /**
   * The names of fields that its body had, without values: at most 50, and only those that look like
   * field names (`recipientName`, `to_number`), because another key may be personal data.
   */
  fields: string[];
  /** The number of further keys that the body had. It is absent if there were none. */
  others?: number;
}

const isShown = (key: string) => looksLikeField(key) && redactId(key) === key;

/** What each logger has already logged: a process may have many receivers. */
const told = new WeakMap<Logger, Set<string>>();

/**
 * Notices when `context.call` finds nothing: the spec does not show the names of its fields, so the
 * configured ones, or the guesses, may be wrong. This is logged once for each event name.
 */
export class FieldCheck {
  readonly #fieldNames: FieldNames;
  readonly #logger: Logger;
  readonly #fitting = new Set<string>();
  readonly #unknown = new Map<string, UnknownFields>();

  constructor(fieldNames: FieldNames, logger: Logger) {
    this.#fieldNames = fieldNames;
    this.#logger = logger;
  }

  /** The events whose details were never found. */
  get unknown(): UnknownFields[] {
    return [...this.#unknown.values()];
  }

  /** Looks at events until one of their name has its details. */
  check(eventName: 'call:started' | 'call:completed', event: object): void {
    if (this.#fitting.has(eventName)) return;
    const missing = missingDetails(eventName, event, this.#fieldNames);
    if (missing === undefined) {
      this.#fitting.add(eventName);
      this.#unknown.delete(eventName);
    } else if (!this.#unknown.has(eventName) && hasOtherFields(event)) {
      const keys = Object.keys(event);
      const fields = keys.filter(isShown).slice(0, MAX_NAMES);
      const others = keys.length - fields.length;
      const unknown = { eventName, fields, ...(others > 0 && { others }) };
      this.#unknown.set(eventName, unknown);
      this.#warn(unknown, missing);
    }
  }

  #warn({ eventName, fields, others = 0 }: UnknownFields, missing: string): void {
    const events = told.get(this.#logger) ?? new Set();
    if (events.has(eventName)) return;
    told.set(this.#logger, events.add(eventName));
    safeLogger(this.#logger).warn(
      { eventName, docs: docsUrl('field-names.md') },
      `call-webhooks: ${eventName} has ${missing}, so context.call is incomplete. The names of these fields are guesses, since the service does not document them. Set fieldNames to the names of your service; "npx call-webhooks infer" finds them in a captured delivery. The body has: ${[...fields, ...(others > 0 ? [`${String(others)} more`] : [])].join(', ')}.`,
    );
  }
}

/** An event that was made up for a test often has no field that `fieldNames` could name. */
const hasOtherFields = (event: object): boolean =>
  Object.keys(event).some((field) => !DOCUMENTED.has(field));

const DOCUMENTED = new Set(['eventName', 'callId', 'fromPhoneNumber']);

/** What is missing from an event. A name that is `undefined` means that there is no such field. */
function missingDetails(
  eventName: string,
  event: object,
  fieldNames: FieldNames,
): string | undefined {
  const isStart = eventName === 'call:started'; // it has no end
  const names: FieldNames = {
    ...DEFAULT_FIELD_NAMES,
    ...fieldNames,
    ...(isStart && { endedAt: undefined }),
  };
  const expected = Object.values(names).filter((name) => name !== undefined);
  const details = callDetails(event, fieldNames);
  if (expected.length > 0 && Object.values(details).every((detail) => detail === undefined))
    return `none of the fields ${expected.join(', ')}`;
  const { endedAt } = names;
  return endedAt !== undefined && !details.endedAt
    ? `no time in ${endedAt}, where the end of the call is expected`
    : undefined;
}
