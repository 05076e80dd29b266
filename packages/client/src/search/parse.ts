import { SearchSyntaxError } from '../errors/index.ts';
import { scan, type Token } from './scan.ts';
import { duplicate, toTerm, withOperator } from './terms.ts';
import type { EventSearchTree, ToTerm } from './tree.ts';

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
  if (token.kind === 'quoted') return { ...tree, subject: token.value };
  return { ...tree, text: tree.text === undefined ? token.value : `${tree.text} ${token.value}` };
}

/**
 * Reads a search of `GET /v1/events` (spec: "Search string rules").
 *
 * Parts may stand in any order. Words outside of operators are free text, wherever they stand; a
 * lone quoted text is the exact subject. What looks like an operator but is none of the seven
 * (`Re:`, `https://…`) is free text. An empty text gives an empty tree.
 *
 * The spec leaves these open, and they are errors here rather than guesses: free text together with
 * an exact subject, two exact subjects, a quote within a word, an operator without a value.
 *
 * @throws {SearchSyntaxError} with `reason` and the `position` in the text
 */
export function parseEventSearch(text: string): EventSearchTree {
  // Beside the tree, so that a long list of recipients is not copied for each of them.
  const to: ToTerm[] = [];
  let tree: EventSearchTree = { to };
  for (const token of scan(text)) {
    if (token.kind === 'operator' && token.name === 'to') to.push(toTerm(token.value));
    else tree = withToken(tree, token);
  }
  return tree;
}
