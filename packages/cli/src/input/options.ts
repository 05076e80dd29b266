import { closestMatch } from 'leven';
import { badInput } from '../errors.ts';

/** Creates a parser for an option that is a whole number. */
export const wholeNumber =
  (name: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  (given: string): number => {
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    const range =
      max === Number.MAX_SAFE_INTEGER
        ? `of at least ${String(min)}`
        : `from ${String(min)} to ${String(max)}`;
    throw badInput(
      `${name} must be a whole number ${range}, not ${given}.`,
      `Example: ${name} ${String(min)}`,
    );
  };

/** A parser for an option that may be repeated. */
export const repeatable = (given: string, before: readonly string[] = []): string[] => [
  ...before,
  given,
];

/**
 * Parses `name=value` pairs of an option.
 * @param known the names that there are, each with a value as an example
 * @throws CliError 2
 */
export function namedValues<Name extends string>(
  flag: string,
  known: Readonly<Record<Name, string>>,
  given: readonly string[] = [],
): Partial<Record<Name, string>> {
  const names = Object.keys(known) as Name[];
  return Object.fromEntries(
    given.map((pair) => {
      const [, name, value] = /^(\w+)=(\S+)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) {
        const meant = names.find((one) => one === pair.split('=', 1)[0]?.trim()) ?? names[0];
        throw badInput(
          `${flag} ${pair} is not of the form name=value.`,
          `Example: ${flag} ${meant ?? ''}=${meant === undefined ? '' : known[meant]}`,
        );
      }
      if (!names.some((one) => one === name))
        throw badInput(
          `${flag} ${name}: there is no such name.`,
          didYouMean(name, names, `Names: ${names.join(', ')}.`),
        );
      return [name, value];
    }),
  ) as Partial<Record<Name, string>>;
}

/**
 * Parses `mode=probability` pairs. The simulator checks the names of the modes.
 * @throws CliError 2
 */
export function probabilities(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.map((pair) => {
      const [, mode, number] = /^([A-Za-z-]+)(?:=(\d*\.?\d+)(%?))?$/.exec(pair) ?? [];
      if (mode === undefined)
        throw badInput(`${pair} is not of the form mode=probability.`, 'Example: duplicate=0.2');
      const value = number === undefined ? 1 : Number(number);
      return [mode, pair.endsWith('%') ? value / 100 : value];
    }),
  );
}

/** Parses `Name: value` lines. @throws CliError 2 */
export function headerRecord(lines: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n]*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw badInput(`Invalid header: ${line}`, 'Example: --header "X-Tenant: blue"');
    record[name] = value;
  }
  return record;
}

/**
 * Suggests the name that was most likely meant.
 * @param otherwise the suggestion when no name is close
 */
export function didYouMean(given: string, names: readonly string[], otherwise: string): string {
  const wanted = given.toLowerCase();
  const suffixOf = names.find((name) => name.endsWith(`:${wanted}`));
  const maxDistance = Math.max(1, Math.floor(wanted.length / 3));
  const match = suffixOf ?? closestMatch(wanted, names, { maxDistance });
  return match === undefined ? otherwise : `Did you mean ${match}?`;
}
