import { SearchSyntaxError } from '../errors/index.ts';
import { isActivityAction, type ActivityAction } from '../events/activity-event.ts';
import {
  OPERATORS,
  type EventSearchTree,
  type FromTerm,
  type NamedTerm,
  type OperatorName,
  type ToTerm,
} from './tree.ts';
import { searchDate } from './values.ts';

/** Guesses what the value of a `to:` means, see ToTerm. */
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
  // A team may be called "sales@emea": an address has a domain with a dot.
  const isEmail = /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
  return { kind: isEmail ? 'email' : 'team', value };
}

function activityType(value: string, position?: number): ActivityAction {
  if (isActivityAction(value)) return value;
  throw new SearchSyntaxError(
    'unknown-type',
    'type: needs one of the seven activity event types',
    position,
  );
}

/** The error for a second part of a kind that is allowed once. */
export function duplicate(what: string, position?: number): SearchSyntaxError {
  return new SearchSyntaxError('duplicate', `${what} can be given only once`, position);
}

/** The error for an exact subject together with operators. */
export function subjectAndOperators(position?: number): SearchSyntaxError {
  return new SearchSyntaxError(
    'subject-and-operators',
    'an exact subject must be the whole search and cannot be combined with operators',
    position,
  );
}

/**
 * Adds one operator to a tree. Values get their meaning only here, for the parser and the builder.
 * The value comes without its quotes.
 *
 * @param positions where the operator and its value start in a parsed text
 * @throws {SearchSyntaxError} `duplicate`, `invalid-date`, `unknown-type` or `subject-and-operators`
 */
export function withOperator(
  tree: EventSearchTree,
  name: OperatorName,
  value: string,
  positions?: { readonly operator: number; readonly value: number },
): EventSearchTree {
  if (tree.subject !== undefined) throw subjectAndOperators(positions?.operator);
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

/** Whether a tree has any operator. */
export function hasOperators(tree: EventSearchTree): boolean {
  return OPERATORS.some((name) => (name === 'to' ? tree.to.length > 0 : tree[name] !== undefined));
}
