import { OPERATORS, type EventSearchTree, type NamedTerm } from './tree.ts';

function quoted(value: string): string {
  return `"${value}"`;
}

function quotedIfNeeded(value: string): string {
  return /\s/.test(value) ? quoted(value) : value;
}

// A sequence's _id stands bare in the spec, names in quotes.
function named(term: NamedTerm): string {
  if (term.kind === 'any') return '*';
  return /^[0-9a-f]{24}$/i.test(term.value) ? term.value : quoted(term.value);
}

function values(tree: EventSearchTree, operator: (typeof OPERATORS)[number]): string[] {
  switch (operator) {
    case 'to':
      return tree.to.map((term) => quotedIfNeeded(term.value));
    case 'template':
    case 'sequence': {
      const term = tree[operator];
      return term === undefined ? [] : [named(term)];
    }
    case 'from': {
      if (tree.from === undefined) return [];
      if (tree.from.kind === 'myself') return ['myself'];
      const { kind, value } = tree.from;
      return [kind === 'team' ? quoted(value) : quotedIfNeeded(value)];
    }
    default: {
      const value = tree[operator];
      return value === undefined ? [] : [value];
    }
  }
}

/**
 * Writes a tree in one canonical form: text or subject first, then the operators in the order of
 * `OPERATORS`. The tree must come from `parseEventSearch` or a builder: its values are not checked
 * again. Never throws.
 */
export function formatEventSearch(tree: EventSearchTree): string {
  const parts = tree.subject === undefined ? [] : [quoted(tree.subject)];
  if (tree.text !== undefined) parts.push(tree.text);
  for (const operator of OPERATORS) {
    for (const value of values(tree, operator)) parts.push(`${operator}:${value}`);
  }
  return parts.join(' ');
}
