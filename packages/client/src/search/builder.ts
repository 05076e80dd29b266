import { SearchSyntaxError } from '../errors/index.ts';
import type { EventSearch, EveryPart, SequenceChoice, TemplateChoice } from './builder-types.ts';
import { formatEventSearch } from './format.ts';
import { startsOperator } from './scan.ts';
import { duplicate, hasOperators, subjectAndOperators, withOperator } from './terms.ts';
import { ANY, type EventSearchTree, type NamedTerm, type OperatorName } from './tree.ts';
import { checkValue, searchDate } from './values.ts';

/**
 * Starts a search for `client.events`. Never throws itself. A value that the search language cannot
 * express throws a SearchSyntaxError at the method that adds it.
 *
 * @example
 * eventSearch().to('example.com').since('2026-01-31').type('opened').toString();
 * // 'to:example.com since:2026-01-31 type:opened'
 */
export function eventSearch(): EventSearch {
  return build({ to: [] });
}

function build(tree: EventSearchTree): EveryPart {
  const add = (name: OperatorName, value: string): EveryPart => {
    checkValue(`${name}:`, value);
    return build(withOperator(tree, name, value));
  };
  const addNamed = (name: 'template' | 'sequence', term: NamedTerm): EveryPart => {
    // Checks what every operator needs, and keeps the form that was asked for.
    const added = withOperator(tree, name, term.kind === 'any' ? '*' : term.value);
    return build({ ...added, [name]: term });
  };
  const parts: EveryPart = {
    tree,
    toString: () => formatEventSearch(tree),
    text(words) {
      if (tree.subject !== undefined) throw textAndSubject();
      const added = checkedWords(words);
      return build({ ...tree, text: tree.text === undefined ? added : `${tree.text} ${added}` });
    },
    subject(exact) {
      if (tree.text !== undefined) throw textAndSubject();
      if (tree.subject !== undefined) throw duplicate('an exact subject');
      if (hasOperators(tree)) throw subjectAndOperators();
      checkValue('subject', exact);
      return build({ ...tree, subject: exact });
    },
    to: (recipient) => add('to', recipient),
    since: (date) => add('since', searchDate('since', date)),
    until: (date) => add('until', searchDate('until', date)),
    type: (action) => add('type', action),
    template: (chosen) => addNamed('template', namedTerm('template', chosen)),
    sequence: (chosen) => addNamed('sequence', namedTerm('sequence', chosen)),
    from: (sender) => add('from', sender),
  };
  return Object.freeze(parts);
}

function textAndSubject(): SearchSyntaxError {
  return new SearchSyntaxError(
    'text-and-subject',
    'free text and an exact subject cannot be combined',
  );
}

function checkedWords(words: string): string {
  checkValue('text', words.replace(/\s+/g, ' '));
  const list = words.split(/\s+/).filter((word) => word !== '');
  if (!list.some(startsOperator)) return list.join(' ');
  throw new SearchSyntaxError(
    'operator-in-text',
    'a word of the text would be read as an operator, and the language has no escapes',
  );
}

function namedTerm(
  operator: 'template' | 'sequence',
  chosen: string | TemplateChoice | SequenceChoice | typeof ANY,
): NamedTerm {
  if (chosen === ANY) return { kind: 'any' };
  if (typeof chosen === 'string') return { kind: 'named', value: checkedName(operator, chosen) };
  if ('id' in chosen) {
    const value = checkedName(operator, chosen.id);
    if (!/\s/.test(value)) return { kind: 'named', value, form: 'id' };
    throw new SearchSyntaxError(
      'invalid-character',
      `an id of ${operator}: cannot contain a space`,
    );
  }
  const name = 'name' in chosen ? chosen.name : chosen.title;
  return { kind: 'named', value: checkedName(operator, name), form: 'name' };
}

function checkedName(operator: string, name: string): string {
  checkValue(`${operator}:`, name);
  if (name !== '*') return name;
  throw new SearchSyntaxError(
    'any-as-text',
    `${operator}: reads * as "any". Pass ANY if you mean that; the name * cannot be searched`,
  );
}
