import { OPERATORS, type EventSearchTree, type NamedTerm } from './tree.ts';

function quoted(value: string): string {
  return `"${value}"`;
}

function quotedIfNeeded(value: string): string {
  return /\s/.test(value) ? quoted(value) : value;
}

function template(term: NamedTerm): string {
  return term.kind === 'any' ? '*' : quoted(term.value);
}

// The spec writes the _id of a sequence bare and names in quotes. Nothing says what an _id looks
// like, so without a form 24 hex digits are taken for one.
function sequence(term: NamedTerm): string {
  if (term.kind === 'any') return '*';
  const isId = term.form === undefined ? /^[0-9a-f]{24}$/i.test(term.value) : term.form === 'id';
  return isId ? term.value : quoted(term.value);
}

function values(tree: EventSearchTree, operator: (typeof OPERATORS)[number]): string[] {
  switch (operator) {
    case 'to':
      return tree.to.map((term) => quotedIfNeeded(term.value));
    case 'template':
      return tree.template === undefined ? [] : [template(tree.template)];
    case 'sequence':
      return tree.sequence === undefined ? [] : [sequence(tree.sequence)];
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
 * Writes a tree as canonical text: free text or subject first, then the operators in the order of
 * `OPERATORS`. The tree must come from `parseEventSearch` or a builder; its values are not checked
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
