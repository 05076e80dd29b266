import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SearchSyntaxError } from '../../src/errors/index.ts';
import { ACTIVITY_ACTIONS } from '../../src/events/activity-event.ts';
import { eventSearch } from '../../src/search/builder.ts';
import type { EveryPart } from '../../src/search/builder-types.ts';
import { formatEventSearch } from '../../src/search/format.ts';
import { parseEventSearch } from '../../src/search/parse.ts';
import { ANY } from '../../src/search/tree.ts';

const numRuns = Number(process.env['RUNS'] ?? 300);

test('writes the forms of the spec', () => {
  const search = eventSearch()
    .text('Your offer')
    .to('ann@example.com')
    .to('example.com')
    .to('Bo Li')
    .since('2026-01-01')
    .until(new Date('2026-02-01T12:00:00Z'))
    .type('opened')
    .template('First call')
    .sequence(ANY)
    .from('myself');
  expect(search.toString()).toBe(
    'Your offer to:ann@example.com to:example.com to:"Bo Li" since:2026-01-01 ' +
      'until:2026-02-01 type:opened template:"First call" sequence:* from:myself',
  );
});

test('a subject is the whole search', () => {
  expect(eventSearch().subject('Your offer').toString()).toBe('"Your offer"');
});

test('a sequence is named by id or by name, whatever either looks like', () => {
  const written = (chosen: Parameters<EveryPart['sequence']>[0]): string =>
    eventSearch().sequence(chosen).toString();
  expect(written({ id: 'seq_42' })).toBe('sequence:seq_42');
  expect(written({ id: hex })).toBe(`sequence:${hex}`);
  expect(written({ name: hex })).toBe(`sequence:"${hex}"`);
  expect(written(hex)).toBe(`sequence:${hex}`);
  expect(written('seq_42')).toBe('sequence:"seq_42"');
});

const hex = '5f0c9a1b2c3d4e5f60718293';

test('a template has a name or a title, and never an id', () => {
  expect(eventSearch().template({ name: 'Intro' }).toString()).toBe('template:"Intro"');
  expect(eventSearch().template({ title: hex }).toString()).toBe(`template:"${hex}"`);
  expect(eventSearch().template(hex).toString()).toBe(`template:"${hex}"`);
});

test('a team may have an @ in its name, an address has a domain with a dot', () => {
  expect(eventSearch().from('sales@emea').toString()).toBe('from:"sales@emea"');
  expect(eventSearch().from('bo@example.com').toString()).toBe('from:bo@example.com');
});

test('an empty search is empty; text is appended and its spaces are collapsed', () => {
  expect(eventSearch().toString()).toBe('');
  expect(eventSearch().text('  new \n offer ').text('Re: x').toString()).toBe('new offer Re: x');
});

test('a builder stays as it is when parts are added to it', () => {
  const base = eventSearch().to('example.com');
  base.type('opened');
  expect(base.toString()).toBe('to:example.com');
  expect(Object.isFrozen(base)).toBe(true);
});

const every = eventSearch();

describe('throws before anything is sent', () => {
  test.each<[string, string, () => unknown]>([
    [
      'a second since',
      'duplicate',
      () => (every.since('2026-01-01') as EveryPart).since('2026-01-02'),
    ],
    [
      'a second until',
      'duplicate',
      () => (every.until('2026-01-01') as EveryPart).until('2026-01-02'),
    ],
    ['a second type', 'duplicate', () => (every.type('opened') as EveryPart).type('opened')],
    ['a second template', 'duplicate', () => (every.template(ANY) as EveryPart).template('a')],
    ['a second sequence', 'duplicate', () => (every.sequence('a') as EveryPart).sequence(ANY)],
    ['a second from', 'duplicate', () => (every.from('a') as EveryPart).from('myself')],
    ['a second subject', 'duplicate', () => (every.subject('a') as EveryPart).subject('b')],
    ['text and subject', 'text-and-subject', () => (every.text('a') as EveryPart).subject('b')],
    ['subject and text', 'text-and-subject', () => (every.subject('a') as EveryPart).text('b')],
    [
      'subject and operators',
      'subject-and-operators',
      () => (every.to('a') as EveryPart).subject('b'),
    ],
    [
      'operators and subject',
      'subject-and-operators',
      () => (every.subject('a') as EveryPart).to('b'),
    ],
    ['an id with a space', 'invalid-character', () => every.sequence({ id: 'a b' })],
    ['* as an id', 'any-as-text', () => every.sequence({ id: '*' })],
    ['a quote in a name', 'misplaced-quote', () => every.template({ name: 'a"' })],
    ['a quote in a value', 'misplaced-quote', () => every.to('Ann "Lee"')],
    ['a quote in a text', 'misplaced-quote', () => every.text('say "hi"')],
    ['a quote in a subject', 'misplaced-quote', () => every.subject('say "hi"')],
    ['a blank value', 'empty', () => every.to(' ')],
    ['a blank text', 'empty', () => every.text('\n')],
    ['a bad date', 'invalid-date', () => every.since('2026-02-30')],
    ['an invalid Date', 'invalid-date', () => every.until(new Date(NaN))],
    ['an unknown type', 'unknown-type', () => every.type('bounced' as never)],
    ['an operator in a text', 'operator-in-text', () => every.text('hi to:ann')],
    ['* for ANY template', 'any-as-text', () => every.template('*')],
    ['* for ANY sequence', 'any-as-text', () => every.sequence('*')],
    ['a control character', 'invalid-character', () => every.from('a\u0000')],
  ])('%s', (_, reason, add) => {
    expect(add).toThrow(SearchSyntaxError);
    expect(add).toThrow(expect.objectContaining({ reason, position: undefined }));
  });
});

const value = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .filter((text) => text.trim() !== '' && text !== '*' && !/["\p{Cc}\p{Cs}]/u.test(text));
const words = value.filter(
  (text) => !/(^|\s)(to|since|until|type|template|sequence|from):/.test(text),
);
const day = fc.date({
  min: new Date('0001-01-01'),
  max: new Date('9999-12-31'),
  noInvalidDate: true,
});
const recipient = fc.oneof(
  value,
  fc.emailAddress().filter((mail) => !mail.includes('"')),
  fc.domain(),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const parts = fc.record({
  text: maybe(words),
  subject: maybe(value),
  to: fc.array(recipient, { maxLength: 4 }),
  since: maybe(day),
  until: maybe(day),
  type: maybe(fc.constantFrom(...ACTIVITY_ACTIONS)),
  template: maybe(fc.oneof(value, fc.constant(ANY))),
  sequence: maybe(fc.oneof(value, fc.constant(ANY), fc.constant(hex))),
  from: maybe(fc.oneof(recipient, fc.constant('myself'))),
});

test('build → parse → build is stable', () => {
  fc.assert(
    fc.property(parts, (given) => {
      let search: EveryPart = every;
      const { text, subject, to, since, until, type, template, sequence, from } = given;
      const then = (next: unknown): void => void (search = next as EveryPart);
      if (subject !== undefined) {
        search = search.subject(subject) as EveryPart;
        expect(parseEventSearch(search.toString())).toEqual(search.tree);
        return;
      }
      if (text !== undefined) then(search.text(text));
      for (const one of to) then(search.to(one));
      if (since !== undefined) then(search.since(since));
      if (until !== undefined) then(search.until(until));
      if (type !== undefined) then(search.type(type));
      if (template !== undefined) then(search.template(template));
      if (sequence !== undefined) then(search.sequence(sequence));
      if (from !== undefined) then(search.from(from));
      const written = search.toString();
      expect(parseEventSearch(written)).toEqual(search.tree);
      expect(formatEventSearch(parseEventSearch(written))).toBe(written);
    }),
    { numRuns },
  );
});

test('whatever it is given, it refuses it or writes what reads back as it was meant', () => {
  const piece = fc.constantFrom(
    ...['to:', 'since:', 'template:', '"', ' ', '*', ':', '\\', '\u00a0', '\n', '\ud83d', 'a', 'é'],
    ...['myself', 'opened', '2026-01-31', 'a@b.c', 'example.com', hex],
  );
  const anything = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const part = fc.constantFrom(
    ...(['text', 'subject', 'to', 'since', 'until', 'template', 'sequence', 'from'] as const),
  );
  let written = 0;
  const given = fc.array(fc.tuple(part, anything), { maxLength: 4 });
  const property = fc.property(given, (steps) => {
    let search: EveryPart = every;
    try {
      for (const [name, text] of steps) search = search[name](text) as EveryPart;
    } catch (error) {
      expect(error).toBeInstanceOf(SearchSyntaxError);
      return;
    }
    written++;
    expect(parseEventSearch(search.toString())).toEqual(search.tree);
  });
  fc.assert(property, { numRuns });
  expect(written).toBeGreaterThan(numRuns / 10);
});
