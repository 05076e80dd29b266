import { SearchSyntaxError } from '../errors/index.ts';
import type { EventSearch, EveryPart } from './builder-types.ts';
import { checkValue } from './characters.ts';
import { searchDate } from './dates.ts';
import { formatEventSearch } from './format.ts';
import { startsOperator } from './scan.ts';
import { duplicate, withOperator } from './terms.ts';
import { ANY, type EventSearchTree, type OperatorName } from './tree.ts';

function checkedWords(words: string): string {
  checkValue('text', words.replace(/\s+/g, ' '));
  const list = words.split(/\s+/).filter((word) => word !== '');
  if (!list.some(startsOperator)) return list.join(' ');
  throw new SearchSyntaxError(
    'operator-in-text',
    'a word of the text would be read as an operator, and the language has no escapes',
  );
}

function exclusive(tree: EventSearchTree, other: 'text' | 'subject'): void {
  if (tree[other] === undefined) return;
  throw new SearchSyntaxError(
    'text-and-subject',
    'free text and an exact subject cannot be combined',
  );
}

function checkedName(operator: string, name: string | typeof ANY): string {
  if (name === ANY) return '*';
  checkValue(`${operator}:`, name);
  if (name !== '*') return name;
  throw new SearchSyntaxError(
    'any-as-text',
    `${operator}: reads * as "any"; pass ANY when that is meant, the name * cannot be written`,
  );
}

function build(tree: EventSearchTree): EveryPart {
  const add = (name: OperatorName, value: string): EveryPart => {
    checkValue(`${name}:`, value);
    return build(withOperator(tree, name, value));
  };
  const parts: EveryPart = {
    tree,
    toString: () => formatEventSearch(tree),
    text(words) {
      exclusive(tree, 'subject');
      const added = checkedWords(words);
      return build({ ...tree, text: tree.text === undefined ? added : `${tree.text} ${added}` });
    },
    subject(exact) {
      exclusive(tree, 'text');
      if (tree.subject !== undefined) throw duplicate('an exact subject');
      checkValue('subject', exact);
      return build({ ...tree, subject: exact });
    },
    to: (recipient) => add('to', recipient),
    since: (date) => add('since', searchDate('since', date)),
    until: (date) => add('until', searchDate('until', date)),
    type: (action) => add('type', action),
    template: (name) => add('template', checkedName('template', name)),
    sequence: (nameOrId) => add('sequence', checkedName('sequence', nameOrId)),
    from: (sender) => add('from', sender),
  };
  return Object.freeze(parts);
}

/**
 * Starts a search for `client.events`; never throws itself. It cannot write a query that the language
 * does not have: what cannot be expressed throws a SearchSyntaxError at the call that adds it.
 *
 * @example eventSearch().to('example.com').since('2026-01-31').type('opened').toString()
 */
export function eventSearch(): EventSearch {
  return build({ to: [] });
}
