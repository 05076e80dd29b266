import { docsUrl } from '../errors.ts';
import { redactId } from '../report/redact.ts';
import { looksLikeField } from '../report/visible.ts';
import { safeLogger, type Logger } from '../report/logger.ts';
import type { CallDetails, FieldNames } from './call-details.ts';
import { FieldFit, type Misfit } from './field-fit.ts';
import { DOCUMENTED_FIELDS } from './field-names.ts';

const MAX_NAMES = 50;

/** An event whose call details were not found under the names in `fieldNames`. */
export interface UnknownFields {
  /** The name of the event. */
  eventName: string;
  /**
   * The properties of `context.call` that were never found: their fields have other names, or values of
   * another type.
   */
  properties: (keyof CallDetails)[];
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

type CallEventName = 'call:started' | 'call:completed';
type BodyFields = Pick<UnknownFields, 'fields' | 'others'>;

/**
 * Notices what `context.call` lacks: the spec does not show the names of its fields, so the configured
 * ones, or the guesses, may be wrong. This is logged once for each event name.
 */
export class FieldCheck {
  readonly #fieldNames: FieldNames;
  readonly #logger: Logger;
  readonly #fits = new Map<CallEventName, FieldFit>();
  /** The fields of the first body of each event name that did not fit. */
  readonly #bodies = new Map<CallEventName, BodyFields>();

  constructor(fieldNames: FieldNames, logger: Logger) {
    this.#fieldNames = fieldNames;
    this.#logger = logger;
  }

  /** The events with details that were never found. */
  get unknown(): UnknownFields[] {
    return [...this.#bodies].map(([eventName, body]) => ({
      eventName,
      properties: (this.#fits.get(eventName)?.misfits ?? []).map(({ property }) => property),
      ...body,
    }));
  }

  /** Looks at events until each detail of their name has been found. */
  check(eventName: CallEventName, event: object): void {
    let fit = this.#fits.get(eventName);
    if (!fit) this.#fits.set(eventName, (fit = new FieldFit(eventName, this.#fieldNames)));
    if (!hasOtherFields(event)) return;
    fit.look(event);
    const { misfits } = fit;
    if (misfits.length === 0) this.#bodies.delete(eventName);
    else if (!this.#bodies.has(eventName)) {
      const keys = Object.keys(event);
      const fields = keys.filter(isShown).slice(0, MAX_NAMES);
      const others = keys.length - fields.length;
      const body = { fields, ...(others > 0 && { others }) };
      this.#bodies.set(eventName, body);
      this.#warn(eventName, misfits, body);
    }
  }

  #warn(eventName: CallEventName, misfits: readonly Misfit[], body: BodyFields): void {
    const events = told.get(this.#logger) ?? new Set();
    if (events.has(eventName)) return;
    told.set(this.#logger, events.add(eventName));
    const { fields, others = 0 } = body;
    const found = [...fields, ...(others > 0 ? [`${String(others)} more`] : [])].join(', ');
    safeLogger(this.#logger).warn(
      { eventName, docs: docsUrl('field-names.md') },
      `call-webhooks: context.call of ${eventName} is incomplete. ${described(misfits)}. ${adviceOn(misfits)} "npx call-webhooks infer" finds the names in a captured delivery. The body has: ${found}.`,
    );
  }
}

/** What is wrong, and the fields it is wrong with: `Missing: userId (default for placedBy)`. */
function described(misfits: readonly Misfit[]): string {
  const fields = new Map<string, string[]>();
  for (const { property, name, isDefault, problem } of misfits) {
    const field = `${name} (${isDefault ? 'default' : 'set'} for ${property})`;
    fields.set(problem, [...(fields.get(problem) ?? []), field]);
  }
  const text = [...fields].map(([problem, names]) => `${problem}: ${names.join(', ')}`).join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function adviceOn(misfits: readonly Misfit[]): string {
  const guesses = 'Default names are guesses, since the service does not document them.';
  const names = 'the names of your service';
  if (misfits.every(({ isDefault }) => isDefault)) return `${guesses} Set fieldNames to ${names}.`;
  const correct = `Correct fieldNames, so that it has ${names}.`;
  return misfits.some(({ isDefault }) => isDefault) ? `${correct} ${guesses}` : correct;
}

/** An event that was made up for a test often has no field that `fieldNames` could name. */
const hasOtherFields = (event: object): boolean =>
  Object.keys(event).some((field) => !DOCUMENTED_FIELDS.has(field));
