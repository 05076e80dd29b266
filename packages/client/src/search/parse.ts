import { SearchSyntaxError } from '../errors/index.ts';
import { scan, type Token } from './scan.ts';
import { duplicate, hasOperators, subjectAndOperators, toTerm, withOperator } from './terms.ts';
import type { EventSearchTree, ToTerm } from './tree.ts';

/**
 * Parses a search of `GET /v1/events` (spec: "Search string rules").
 *
 * Parts may come in any order. All words outside of operators are free text. A text in double quotes
 * is the exact subject, and then the whole search. What looks like an operator but is none of the
 * seven (`Re:`, `https://…`) is free text. An empty text gives an empty tree.
 *
 * What the spec leaves open is an error, not a guess: an exact subject together with free text,
 * operators or another subject, a quote within a word, an operator without a value.
 *
 * @throws {SearchSyntaxError} with `reason` and the `position` in the text
 *
 * @example
 * parseEventSearch('offer type:opened'); // { text: 'offer', to: [], type: 'opened' }
 */
export function parseEventSearch(text: string): EventSearchTree {
  // Not in the tree, so that a long list of recipients is not copied for each of them.
  const to: ToTerm[] = [];
  let tree: EventSearchTree = { to };
  for (const token of scan(text)) {
    if (token.kind === 'operator' && token.name === 'to' && tree.subject === undefined)
      to.push(toTerm(token.value));
    else tree = withToken(tree, token);
  }
  return tree;
}

function withToken(tree: EventSearchTree, token: Token): EventSearchTree {
  if (token.kind === 'operator') {
    const positions = { operator: token.position, value: token.valuePosition };
    return withOperator(tree, token.name, token.value, positions);
  }
  if (token.kind === 'quoted' && tree.subject !== undefined) {
    throw duplicate('an exact subject', token.position);
  }
  if (tree[token.kind === 'quoted' ? 'text' : 'subject'] !== undefined) {
    throw new SearchSyntaxError(
      'text-and-subject',
      'free text and an exact subject cannot be combined',
      token.position,
    );
  }
  if (token.kind === 'quoted') {
    if (hasOperators(tree)) throw subjectAndOperators(token.position);
    return { ...tree, subject: token.value };
  }
  return { ...tree, text: tree.text === undefined ? token.value : `${tree.text} ${token.value}` };
}
