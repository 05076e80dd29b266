import { OUTCOMES } from '@call-webhooks/core';
import { RequestError } from './answer.ts';

const MAX_TEXT = 300;

/**
 * The parameters of a query, each at most once.
 * @throws RequestError `invalid-request` for a parameter that is unknown, repeated or too long
 */
export function parametersOf<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): { [Key in Name]?: string } {
  const known: readonly string[] = names;
  const found: { [Key in Name]?: string } = {};
  for (const [name, value] of query) {
    if (!known.includes(name))
      throw invalid(
        names.length > 0 ? `expected only ${names.join(', ')}` : 'it takes no parameters',
      );
    if (Object.hasOwn(found, name)) throw invalid(`${name}: it is repeated`);
    if (value.length > MAX_TEXT) throw invalid(`${name}: it has more than ${MAX_TEXT} characters`);
    if (value !== '') found[name as Name] = value;
  }
  return found;
}

/** A parameter by its name and value. */
type Parameter = readonly [name: string, value: string | undefined];

/** @throws RequestError `invalid-request` */
export function numberOf([name, value]: Parameter, min: number, max: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d{1,16}$/.test(value) || number < min || number > max)
    throw invalid(`${name}: expected a whole number from ${min} to ${max}`);
  return number;
}

/** @throws RequestError `invalid-request` */
export function listOf([name, value]: Parameter, allowed: readonly string[]): string[] | undefined {
  if (value === undefined) return undefined;
  const list = value.split(',');
  if (!list.every((one) => allowed.includes(one)))
    throw invalid(`${name}: expected one or more of ${allowed.join(', ')}, with commas`);
  return list;
}

/** The last millisecond that a `Date` can have. */
export const END_OF_TIME = 8.64e15;

/** Milliseconds since the epoch. @throws RequestError `invalid-request` */
export const timeOf = (parameter: Parameter): number | undefined =>
  numberOf(parameter, 0, END_OF_TIME);

export const OUTCOME_CODES: readonly string[] = Object.keys(OUTCOMES);

export const invalid = (problem: string) =>
  new RequestError('invalid-request', `The request cannot be used: ${problem}.`);
