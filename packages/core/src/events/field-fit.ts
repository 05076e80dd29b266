import {
  CALL_PROPERTIES,
  type CallDetails,
  detailOf,
  fieldNameOf,
  type FieldNames,
  fieldOf,
  isTime,
} from './call-details.ts';
import { DOCUMENTED_FIELDS } from './field-names.ts';

/** A property of `context.call` that an event does not have, because its field does not fit. */
export interface Misfit {
  readonly property: keyof CallDetails;
  /** The name of its field. */
  readonly name: string;
  /** Whether the name is a default one, which is a guess, and not set in `fieldNames`. */
  readonly isDefault: boolean;
  /** What its field is: `missing`, or `an object instead of a text`. It never quotes a value. */
  readonly problem: string;
}

/**
 * Compares the events of one name with the names of their fields, as the spec describes the fields. An
 * optional field that is absent is no fault, but one with a value of another type is; so is an event in
 * which no field was found. A property that has been found once is known to have its name.
 */
export class FieldFit {
  readonly #eventName: string;
  readonly #fieldNames: FieldNames;
  readonly #expected: readonly Pick<Misfit, 'property' | 'name' | 'isDefault'>[];
  readonly #found = new Set<keyof CallDetails>();
  readonly #misfits = new Map<keyof CallDetails, Misfit>();
  /** Those of an event in which nothing was found. They count until something is. */
  #none: Misfit[] = [];

  constructor(eventName: 'call:started' | 'call:completed', fieldNames: FieldNames) {
    this.#eventName = eventName;
    this.#fieldNames = fieldNames;
    this.#expected = CALL_PROPERTIES.flatMap((property) => {
      if (property === 'endedAt' && eventName === 'call:started') return []; // it has no end
      const name = fieldNameOf(property, fieldNames);
      return name === undefined ? [] : [{ property, name, isDefault: !(property in fieldNames) }];
    });
  }

  /** What was not found in any event so far, although the spec says it is sent, or has another type. */
  get misfits(): readonly Misfit[] {
    return this.#found.size === 0 && this.#none.length > 0
      ? this.#none
      : [...this.#misfits.values()];
  }

  /** Looks at an event, unless all its properties have been found in others. */
  look(event: object): void {
    const lacking: Misfit[] = [];
    for (const one of this.#expected) {
      const { property, name } = one;
      if (this.#found.has(property)) continue;
      if (detailOf(event, property, this.#fieldNames) === undefined) {
        const value = fieldOf(event, name);
        const misfit = { ...one, problem: problemOf(property, value) };
        lacking.push(misfit);
        const isMissing = this.#isExpected(property, event) && !this.#misfits.has(property);
        if (isPresent(value) || isMissing) this.#misfits.set(property, misfit);
      } else {
        this.#found.add(property);
        this.#misfits.delete(property);
      }
    }
    if (this.#none.length === 0 && lacking.length === this.#expected.length) this.#none = lacking;
  }

  /** Whether an event lacks a property only if the field has another name. */
  #isExpected(property: keyof CallDetails, event: object): boolean {
    if (property === 'endedAt') return this.#eventName === 'call:completed';
    return property === 'placedBy' && this.#isWhole(event);
  }

  /**
   * The service sends the user in each event, but an event that was made up for a test often has a few
   * fields alone, such as a name or the end. It has no other time, and no field that could be the user.
   */
  #isWhole(event: object): boolean {
    const names = new Set(this.#expected.map(({ name }) => name));
    const isOther = (field: string) => !names.has(field) && !DOCUMENTED_FIELDS.has(field);
    return (
      Object.keys(event).some(isOther) ||
      detailOf(event, 'createdAt', this.#fieldNames) !== undefined ||
      detailOf(event, 'dialedAt', this.#fieldNames) !== undefined
    );
  }
}

/** Null and an empty text stand for what the service does not know. */
const isPresent = (value: unknown) => value !== undefined && value !== null && value !== '';

function problemOf(property: keyof CallDetails, value: unknown): string {
  if (!isPresent(value)) return value === undefined ? 'missing' : 'empty';
  if (!isTime(property)) return `${typeName(value)} instead of a text`;
  if (typeof value === 'string') return 'a text that is not a time in ISO 8601';
  if (typeof value === 'number') return 'a number that is not a time in milliseconds';
  return `${typeName(value)} instead of a time`;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
