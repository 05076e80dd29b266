import { SearchSyntaxError } from '../errors/index.ts';
import { isActivityAction, type ActivityAction } from '../events/actions.ts';
import { searchDate } from './dates.ts';
import type { EventSearchTree, FromTerm, NamedTerm, OperatorName, ToTerm } from './tree.ts';

/** Reads the value of a `to:` by its looks, see ToTerm. */
export function toTerm(value: string): ToTerm {
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return { kind: 'email', value };
  if (/^(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]{2,}$/u.test(value)) return { kind: 'domain', value };
  return { kind: 'name', value };
}

function namedTerm(value: string): NamedTerm {
  return value === '*' ? { kind: 'any' } : { kind: 'named', value };
}

function fromTerm(value: string): FromTerm {
  if (value === 'myself') return { kind: 'myself' };
  return { kind: value.includes('@') ? 'email' : 'team', value };
}

function activityType(value: string, position?: number): ActivityAction {
  if (isActivityAction(value)) return value;
  throw new SearchSyntaxError(
    'unknown-type',
    'type: needs one of the seven activity event types',
    position,
  );
}

/** The second of something that may stand once. */
export function duplicate(what: string, position?: number): SearchSyntaxError {
  return new SearchSyntaxError('duplicate', `${what} may be given at most once`, position);
}

/**
 * Adds one operator to a tree: the only place where values get their meaning, for the parser and
 * the builder alike. The value is without quotes, which only hold its words together.
 *
 * @param positions where the operator and its value start in a parsed text
 * @throws {SearchSyntaxError} `duplicate`, `invalid-date` or `unknown-type`
 */
export function withOperator(
  tree: EventSearchTree,
  name: OperatorName,
  value: string,
  positions?: { readonly operator: number; readonly value: number },
): EventSearchTree {
  if (name === 'to') return { ...tree, to: [...tree.to, toTerm(value)] };
  if (tree[name] !== undefined) throw duplicate(`${name}:`, positions?.operator);
  switch (name) {
    case 'since':
    case 'until':
      return { ...tree, [name]: searchDate(name, value, positions?.value) };
    case 'type':
      return { ...tree, type: activityType(value, positions?.value) };
    case 'template':
    case 'sequence':
      return { ...tree, [name]: namedTerm(value) };
    case 'from':
      return { ...tree, from: fromTerm(value) };
  }
}
