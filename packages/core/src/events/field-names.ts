import * as z from 'zod/mini';
import type { OptionRule } from '../check-options.ts';
import { isPrintable } from '../report/visible.ts';
import { CALL_PROPERTIES, type CallDetails, fieldNameOf, type FieldNames } from './call-details.ts';

/** The fields of a call event whose names the spec shows: none of them has another meaning. */
export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set([
  'eventName',
  'callId',
  'fromPhoneNumber',
]);

/** What is wrong with the option `fieldNames`. */
export interface FieldNameProblem {
  /** The property of the option that has a wrong name. */
  readonly property: keyof CallDetails;
  /** What it has to be instead, to follow "expected" or "must be". */
  readonly expected: string;
}

const NONE = 'or undefined if there is no such field';

const isName = (name: string): boolean =>
  name.length <= 200 && name !== '' && name.trim() === name && isPrintable(name);

/**
 * Finds names that no field could have, and fields that would have two meanings, one of which would be
 * wrong. What is no text is left to whoever calls this.
 */
export function fieldNameProblems(fieldNames: FieldNames): FieldNameProblem[] {
  return CALL_PROPERTIES.flatMap((property) => {
    const name = fieldNames[property];
    const expected = typeof name === 'string' && expectedInsteadOf(name, property, fieldNames);
    return typeof expected === 'string' ? [{ property, expected }] : [];
  });
}

function expectedInsteadOf(
  name: string,
  property: keyof CallDetails,
  fieldNames: FieldNames,
): string | undefined {
  if (!isName(name))
    return `the name of a field as it is in the body, 1 to 200 visible characters without spaces at the ends, ${NONE}`;
  if (name === '__proto__') return 'another name than "__proto__", which no field can have';
  if (DOCUMENTED_FIELDS.has(name))
    return `the name of another field than "${name}", which is documented and has a meaning of its own, ${NONE}`;
  const other = CALL_PROPERTIES.find(
    (one) => one !== property && fieldNameOf(one, fieldNames) === name,
  );
  if (other === undefined) return undefined;
  if (!isSet(fieldNames, other))
    return `another name than "${name}", which is the default name of ${other}, unless ${other} is set as well: to the name of its own field, ${NONE}`;
  // Of two that are set, the second is called wrong, so that it is said once.
  return isBefore(other, property) ? `another name than ${other} has, ${NONE}` : undefined;
}

const isSet = (fieldNames: FieldNames, property: keyof CallDetails) => property in fieldNames;
const isBefore = (one: keyof CallDetails, other: keyof CallDetails) =>
  CALL_PROPERTIES.indexOf(one) < CALL_PROPERTIES.indexOf(other);

/** The rule of the option `fieldNames`, wherever it is an option. There are no names by default. */
export const fieldNamesRule = (): OptionRule<FieldNames> => {
  const name = () => z.optional(z.string('expected a string'));
  const names = z.strictObject({
    placedBy: name(),
    createdAt: name(),
    calledNumber: name(),
    calledEmail: name(),
    calledName: name(),
    dialedAt: name(),
    endedAt: name(),
  });
  const check = z.check<FieldNames>(({ value, issues }) => {
    for (const { property, expected } of fieldNameProblems(value))
      issues.push({
        ...{ code: 'custom', path: [property], input: value[property] },
        message: `expected ${expected}`,
      });
  });
  return z._default(names.check(check), {});
};
