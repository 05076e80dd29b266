import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SearchSyntaxError } from '../../src/errors.ts';
import { ACTIVITY_ACTIONS } from '../../src/events.ts';
import { parseEventSearch } from '../../src/search/parse.ts';
import { searchText, type SearchParts } from '../../src/search/text.ts';

const numRuns = Number(process.env['RUNS'] ?? 300);
const hex = '5f0c9a1b2c3d4e5f60718293';

test.each<[string, SearchParts, string]>([
  [
    'every form of the spec',
    {
      from: 'myself',
      sequence: '*',
      template: 'First call',
      type: 'opened',
      until: new Date('2026-02-01T12:00:00Z'),
      since: '2026-01-01',
      to: ['ann@example.com', 'example.com', 'Bo Li'],
      text: 'Your offer',
    },
    'Your offer to:ann@example.com to:example.com to:"Bo Li" since:2026-01-01 ' +
      'until:2026-02-01 type:opened template:"First call" sequence:* from:myself',
  ],
  ['nothing', {}, ''],
  ['nothing, in so many words', { text: undefined, to: [] }, ''],
  ['a subject, which is the whole search', { subject: 'Your offer' }, '"Your offer"'],
  ['one recipient', { to: 'example.com' }, 'to:example.com'],
  ['a sequence by its id', { sequence: { id: hex } }, `sequence:${hex}`],
  ['a sequence by its name', { sequence: hex }, `sequence:"${hex}"`],
  ['a template', { template: 'Intro' }, 'template:"Intro"'],
  ['any template', { template: '*' }, 'template:*'],
  ['a team', { from: 'Sales' }, 'from:"Sales"'],
  ['a team with an @ in its name', { from: 'sales@emea' }, 'from:"sales@emea"'],
  ['an address', { from: 'bo@example.com' }, 'from:bo@example.com'],
  ['text whose spaces are collapsed', { text: '  new \n offer Re: x' }, 'new offer Re: x'],
  [
    'the day of a Date in UTC',
    { since: new Date('2026-03-01T00:30:00+02:00') },
    'since:2026-02-28',
  ],
])('writes %s', (_, parts, text) => {
  expect(searchText(parts)).toBe(text);
});

describe('refuses', () => {
  test.each<[string, string, SearchParts]>([
    ['text and subject', 'whole search', { text: 'a', subject: 'b' }],
    ['subject and operators', 'whole search', { to: 'a', subject: 'b' }],
    ['an id with a space', 'cannot contain a space', { sequence: { id: 'a b' } }],
    ['a quote in a name', 'cannot contain a double quote', { template: 'a"' }],
    ['a quote in a value', 'cannot contain a double quote', { to: 'Ann "Lee"' }],
    ['a quote in a text', 'cannot contain a double quote', { text: 'say "hi"' }],
    ['a quote in a subject', 'cannot contain a double quote', { subject: 'say "hi"' }],
    ['a blank value', 'needs a value', { to: ' ' }],
    ['a blank value among others', 'needs a value', { to: ['a', ''] }],
    ['a blank text', 'needs a value', { text: '\n' }],
    ['a value that is no text', 'needs a value', { from: 7 as never }],
    ['a bad date', 'calendar date', { since: '2026-02-30' }],
    ['a date that is no text', 'needs a value', { since: 20260101 as never }],
    ['an invalid Date', 'calendar date', { until: new Date(NaN) }],
    ['a Date of a year of five digits', 'calendar date', { until: new Date('+010000-01-01') }],
    ['an unknown type', 'activity event types', { type: 'bounced' as never }],
    ['an operator in a text', 'read as an operator', { text: 'hi to:ann' }],
    ['a control character', 'control character', { from: 'a\u0000' }],
    ['half a character', 'control character', { to: 'a\ud800b' }],
    ['a misspelt part', 'no part "form"', { form: 'myself' } as never],
  ])('%s', (_, message, parts) => {
    const write = () => searchText(parts);
    expect(write).toThrow(SearchSyntaxError);
    expect(write).toThrow(message);
    expect(write).toThrow(expect.objectContaining({ position: undefined }));
    expect(write).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('position') as never }),
    );
  });

  test('without repeating the value, which may name people', () => {
    expect(() => searchText({ to: 'ann@example.com"' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('ann@') as never }),
    );
  });
});

test('what is written reads back as it was meant, or is refused', () => {
  const piece = fc.constantFrom(
    ...['to:', 'since:', 'template:', '"', ' ', '*', ':', '\\', '\u00a0', '\n', '\ud83d', 'a', 'é'],
    ...['myself', 'opened', '2026-01-31', 'a@b.c', 'example.com', hex],
  );
  const anything = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'grapheme', minLength: 1 }),
  );
  const day = fc.date({
    min: new Date('0001-01-01'),
    max: new Date('9999-12-31'),
    noInvalidDate: true,
  });
  const parts = fc.record(
    {
      text: anything,
      to: fc.array(fc.oneof(anything, fc.emailAddress(), fc.domain()), { maxLength: 4 }),
      since: day,
      until: day,
      type: fc.constantFrom(...ACTIVITY_ACTIONS),
      template: anything,
      sequence: anything,
      from: fc.oneof(anything, fc.constant('myself')),
    },
    { requiredKeys: [] },
  );
  let written = 0;
  const valueOf = (term: object | undefined): unknown =>
    term &&
    ('value' in term ? term.value : (term as { kind: string }).kind === 'any' ? '*' : 'myself');
  const property = fc.property(parts, (given) => {
    let text: string;
    try {
      text = searchText(given);
    } catch (error) {
      expect(error).toBeInstanceOf(SearchSyntaxError);
      return;
    }
    written++;
    const { to, template, sequence, from, ...others } = parseEventSearch(text);
    expect({
      ...others,
      to: to.map(valueOf),
      template: valueOf(template),
      sequence: valueOf(sequence),
      from: valueOf(from),
    }).toEqual({
      text: given.text
        ?.split(/\s+/)
        .filter((word) => word !== '')
        .join(' '),
      since: given.since?.toISOString().slice(0, 10),
      until: given.until?.toISOString().slice(0, 10),
      type: given.type,
      to: given.to ?? [],
      template: given.template,
      sequence: given.sequence,
      from: given.from,
    });
  });
  fc.assert(property, { numRuns });
  expect(written).toBeGreaterThan(numRuns / 10);
});
