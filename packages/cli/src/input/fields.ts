import { badInput } from '../errors.ts';
import { didYouMean } from './options.ts';

/** The times of call records. */
export const TIME_FIELDS = ['createdAt', 'dialedAt', 'endedAt'] as const;

/** Parses `createdAt=field` pairs: the real names of the known fields. @throws CliError 2 */
export function fieldNames<Name extends string>(
  known: readonly Name[],
  given: readonly string[] = [],
): Partial<Record<Name, string>> {
  const isName = (name: string): name is Name => known.some((one) => one === name);
  return Object.fromEntries(
    given.map((pair) => {
      const [, name, field] = /^(\w+)=(.+)$/.exec(pair) ?? [];
      if (name === undefined || field === undefined)
        throw badInput(
          `--field-name ${pair} is not of the form name=field.`,
          'Example: createdAt=created',
        );
      if (!isName(name))
        throw badInput(
          `There is no field name ${name}.`,
          didYouMean(name, known, `Names: ${known.join(', ')}.`),
        );
      return [name, field];
    }),
  ) as Partial<Record<Name, string>>;
}

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
    if (at < 1 || path.includes(''))
      throw badInput(
        `--set ${pair} is not of the form path=value.`,
        'Example: --set calledName=Ada',
      );
    setPath(result, path, parseValue(pair.slice(at + 1)), pair);
  }
  return result;
}

function setPath(
  target: Fields,
  [name = '', ...rest]: readonly string[],
  value: unknown,
  pair: string,
): void {
  if (rest.length === 0) {
    // Not an assignment: `__proto__` must be a name like any other.
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return;
  }
  const inner = Object.hasOwn(target, name) ? target[name] : undefined;
  if (inner !== undefined && !isFields(inner))
    throw badInput(
      `--set ${pair}: ${name} is not an object, so it has no fields.`,
      `Set it as a whole: --set ${name}='{…}'`,
    );
  const copy = { ...inner };
  setPath(copy, rest, value, pair);
  setPath(target, [name], copy, pair);
}
