import { type DEFAULT_FIELD_NAMES, fieldNameProblems } from '@call-webhooks/core/internal';
import type { Command } from 'commander';
import { badInput } from '../errors.ts';
import { namedValues, repeatable } from './options.ts';

/** The times of call records, each with a name that a service may have for it. */
const TIME_FIELDS = { createdAt: 'loggedAt', dialedAt: 'startTime', endedAt: 'endTime' };

/** The seven fields of a call, in the same way. */
const CALL_FIELDS: Record<keyof typeof DEFAULT_FIELD_NAMES, string> = {
  ...{ placedBy: 'owner', ...TIME_FIELDS },
  ...{ calledNumber: 'phone', calledEmail: 'email', calledName: 'contact' },
};

/** The real names of the times of call records, of `--field-name createdAt=loggedAt`. @throws CliError 2 */
export const timeFieldNames = (given?: readonly string[]) =>
  usable(namedValues('--field-name', TIME_FIELDS, given));

/** The real names of the seven fields of a call, of `--field-name placedBy=owner`. @throws CliError 2 */
export const callFieldNames = (given?: readonly string[]) =>
  usable(namedValues('--field-name', CALL_FIELDS, given));

/** The same rules as for the option `fieldNames` of a receiver. */
function usable<Names extends Partial<Record<keyof typeof CALL_FIELDS, string>>>(
  names: Names,
): Names {
  const [problem] = fieldNameProblems(names);
  if (problem === undefined) return names;
  const { property, expected } = problem;
  throw badInput(
    `--field-name ${property} must be ${expected}.`,
    `Example: --field-name ${property}=${CALL_FIELDS[property]}`,
  );
}

/** Adds `--field-name`, for {@link callFieldNames}. */
export const withFieldNameOption = (
  command: Command,
  what = 'the real name of a field, such as placedBy=owner; repeatable',
): Command => command.option('--field-name <name=field>', what, repeatable);

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of `path=value`: JSON, or text where it is not JSON. */
function parseValue(given: string): unknown {
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return given;
  }
}

/** Not an assignment: `__proto__` must be a name like any other. */
const define = (target: Fields, name: string, value: unknown): Fields =>
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });

/**
 * Sets fields from `path=value` pairs. A path such as `fromPhoneNumber.label` names a nested field.
 * @returns a new object
 * @throws CliError 2 for an invalid pair, or a path through something that is not an object
 */
export function setFields(target: Fields, pairs: readonly string[] = []): Fields {
  const result = structuredClone(target);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const path = pair.slice(0, Math.max(at, 0)).split('.');
    const last = path.pop() ?? '';
    if (at < 1 || last === '' || path.includes(''))
      throw badInput(
        `--set ${pair} is not of the form path=value.`,
        'Example: --set calledName=Ada',
      );
    let fields = result;
    for (const name of path) {
      const inner = Object.hasOwn(fields, name) ? fields[name] : {};
      if (!isFields(inner))
        throw badInput(
          `--set ${pair}: ${name} is not an object, so it has no fields.`,
          `Set it as a whole: --set ${name}='{…}'`,
        );
      define(fields, name, inner);
      fields = inner;
    }
    define(fields, last, parseValue(pair.slice(at + 1)));
  }
  return result;
}
