import { describe, expect, test } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import fc from 'fast-check';
import { SearchSyntaxError } from '../../src/errors/index.ts';
import type { AnyEventSearch, EveryPart } from '../../src/search/builder-types.ts';
import { eventSearch } from '../../src/search/builder.ts';
import { formatEventSearch } from '../../src/search/format.ts';
import { parseEventSearch } from '../../src/search/parse.ts';
import { scan, startsOperator } from '../../src/search/scan.ts';
import { withOperator } from '../../src/search/terms.ts';
import { ANY } from '../../src/search/tree.ts';
import { checkValue, forbiddenAt, searchDate } from '../../src/search/values.ts';

describe('the parser', () => {
  describe('reads', () => {
    test.each([
      ['', { to: [] }],
      ['  \t\n ', { to: [] }],
      ['hello  world', { text: 'hello world', to: [] }],
      ['"Exact  subject"', { subject: 'Exact  subject', to: [] }],
      ['to:ann@example.com', { to: [{ kind: 'email', value: 'ann@example.com' }] }],
      ['to:example.co.uk', { to: [{ kind: 'domain', value: 'example.co.uk' }] }],
      ['to:ann', { to: [{ kind: 'name', value: 'ann' }] }],
      ['to:"Ann Lee"', { to: [{ kind: 'name', value: 'Ann Lee' }] }],
      ['since:2026-01-01 until:2026-01-31', { to: [], since: '2026-01-01', until: '2026-01-31' }],
      ['type:meetinginvites:confirmed', { to: [], type: 'meetinginvites:confirmed' }],
      ['type:"poll:voted"', { to: [], type: 'poll:voted' }],
      ['template:*', { to: [], template: { kind: 'any' } }],
      ['template:"First call"', { to: [], template: { kind: 'named', value: 'First call' } }],
      ['sequence:*', { to: [], sequence: { kind: 'any' } }],
      ['sequence:5f0c', { to: [], sequence: { kind: 'named', value: '5f0c' } }],
      ['from:myself', { to: [], from: { kind: 'myself' } }],
      ['from:"Sales team"', { to: [], from: { kind: 'team', value: 'Sales team' } }],
      ['from:bo@example.com', { to: [], from: { kind: 'email', value: 'bo@example.com' } }],
    ])('%j', (text, tree) => {
      expect(parseEventSearch(text)).toEqual(tree);
    });

    test('several to, with words around operators', () => {
      expect(parseEventSearch('offer to:a@b.c new to:d type:opened one')).toEqual({
        text: 'offer new one',
        to: [
          { kind: 'email', value: 'a@b.c' },
          { kind: 'name', value: 'd' },
        ],
        type: 'opened',
      });
    });

    test.each(['Re: hello', 'https://example.com/a', 'cc:ann', 'To:ann', 'into:x', ':x', '*'])(
      '%j as free text',
      (text) => {
        expect(parseEventSearch(text)).toEqual({ text, to: [] });
      },
    );
  });

  describe('refuses', () => {
    test.each([
      ['since:2026-01-01 since:2026-01-02', 'duplicate', 17],
      ['until:2026-01-01 until:2026-01-01', 'duplicate', 17],
      ['type:opened type:opened', 'duplicate', 12],
      ['template:* template:a', 'duplicate', 11],
      ['sequence:* sequence:a', 'duplicate', 11],
      ['from:a from:myself', 'duplicate', 7],
      ['"a" "b"', 'duplicate', 4],
      ['hello "world"', 'text-and-subject', 6],
      ['"world" to:ann', 'subject-and-operators', 8],
      ['"world" type:opened', 'subject-and-operators', 8],
      ['since:2026-01-01 "world"', 'subject-and-operators', 17],
      ['"world" hello', 'text-and-subject', 8],
      ['ab "cd', 'unclosed-quote', 3],
      ['to:"cd', 'unclosed-quote', 3],
      ['ab"cd"', 'misplaced-quote', 2],
      ['"ab"cd', 'misplaced-quote', 4],
      ['to:ab"cd"', 'misplaced-quote', 5],
      ['to:"a"b', 'misplaced-quote', 6],
      ['""', 'empty', 0],
      ['to:" "', 'empty', 3],
      ['to:', 'empty', 3],
      ['to: ann', 'empty', 3],
      ['since:2026-02-30', 'invalid-date', 6],
      ['a until:tomorrow', 'invalid-date', 8],
      ['type:bounced', 'unknown-type', 5],
      ['a\u0000', 'invalid-character', 1],
      ['to:"a\u0007"', 'invalid-character', 5],
      ['x \ud800', 'invalid-character', 2],
    ])('%j: %s at %d', (text, reason, position) => {
      expect(() => parseEventSearch(text)).toThrow(SearchSyntaxError);
      expect(() => parseEventSearch(text)).toThrow(expect.objectContaining({ reason, position }));
    });
  });

  const numRuns = Number(process.env['RUNS'] ?? 300);

  function checkStable(text: string): void {
    let tree;
    try {
      tree = parseEventSearch(text);
    } catch (error) {
      expect(error).toBeInstanceOf(SearchSyntaxError);
      const { position } = error as SearchSyntaxError;
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(text.length);
      return;
    }
    const canonical = formatEventSearch(tree);
    expect(parseEventSearch(canonical)).toEqual(tree);
    expect(formatEventSearch(parseEventSearch(canonical))).toBe(canonical);
  }

  test('random text never crashes the parser, and what it reads is stable', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), checkStable), { numRuns });
  });

  test('neither does text made of the pieces of the language', () => {
    const piece = fc.constantFrom(
      ...[
        'to:',
        'since:',
        'until:',
        'type:',
        'template:',
        'sequence:',
        'from:',
        '"',
        ' ',
        '*',
        ':',
      ],
      ...['\u00a0', '\ufeff', '\ud83d', 'opened', 'myself', '2026-01-31', 'a@b.c', 'ann', 'é'],
    );
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(fc.property(texts, checkStable), { numRuns });
  });

  test('reads long text', () => {
    expect(parseEventSearch('to:a '.repeat(100_000)).to).toHaveLength(100_000);
    expect(parseEventSearch('word '.repeat(100_000)).text).toHaveLength(499_999);
  });
});

describe('builder-types', () => {
  /** Compiles only if a search has no such method; at run time every search has every method. */
  function lacks<S extends AnyEventSearch, M extends string>(
    search: S,
    _method: M & (M extends keyof S ? never : M),
  ): EveryPart {
    return search as unknown as EveryPart;
  }

  const misuse: (() => unknown)[] = [
    () => lacks(eventSearch().since('2026-01-01'), 'since').since('2026-01-02'),
    () => lacks(eventSearch().since('2026-01-01').to('ann'), 'since').since('2026-01-02'),
    () => lacks(eventSearch().until('2026-01-01'), 'until').until('2026-01-02'),
    () => lacks(eventSearch().type('opened'), 'type').type('clicked'),
    () => lacks(eventSearch().template(ANY), 'template').template('a'),
    () => lacks(eventSearch().sequence('a'), 'sequence').sequence('b'),
    () => lacks(eventSearch().from('myself'), 'from').from('team'),
    () => lacks(eventSearch().subject('a'), 'subject').subject('b'),
    () => lacks(eventSearch().text('a'), 'subject').subject('b'),
    () => lacks(eventSearch().subject('a'), 'text').text('b'),
    () => lacks(eventSearch().subject('a'), 'to').to('b'),
    () => lacks(eventSearch().type('opened'), 'subject').subject('a'),
    // @ts-expect-error not one of the seven types
    () => eventSearch().type('bounced'),
    // @ts-expect-error a template has no id
    () => eventSearch().template({ id: '*' }),
  ];

  test('lacks does not compile for a method that is there', () => {
    // @ts-expect-error to may be repeated
    expect(lacks(eventSearch().to('a'), 'to').to('b').toString()).toBe('to:a to:b');
  });

  test('what does not compile throws as well', () => {
    for (const use of misuse) expect(use).toThrow();
  });

  test('what may be repeated compiles, and every search is one that can be sent', () => {
    const search: AnyEventSearch = eventSearch()
      .to('a')
      .to('b')
      .text('c')
      .text('d')
      .since('2026-01-01');
    expect(search.toString()).toBe('c d to:a to:b since:2026-01-01');
  });
});

describe('characters', () => {
  test.each([
    ['', 'empty'],
    ['  ', 'empty'],
    [7, 'empty'],
    ['a"b', 'misplaced-quote'],
    ['a\nb', 'invalid-character'],
    ['a\u0000b', 'invalid-character'],
    ['a\ud800b', 'invalid-character'],
  ])('refuses %j as %s', (value, reason) => {
    expect(() => checkValue('to:', value)).toThrow(SearchSyntaxError);
    expect(() => checkValue('to:', value)).toThrow(expect.objectContaining({ reason }));
  });

  test('does not repeat the value, which may name people', () => {
    expect(() => checkValue('to:', 'ann@example.com"')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('ann@') as never }),
    );
  });

  test('takes everything else', () => {
    expect(forbiddenAt('Zoë 😀 – “quotes” \u00a0')).toBe(-1);
    expect(() => checkValue('to:', 'Zoë 😀')).not.toThrow();
  });
});

describe('dates', () => {
  test.each(['2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31'])('takes %s', (date) => {
    expect(searchDate('since', date)).toBe(date);
  });

  test.each([
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '0000-01-01',
    '2026-1-1',
    '20260101',
    '+02026-01-01',
    '2026-01-01T00:00:00Z',
    '',
    'yesterday',
  ])('refuses %j', (date) => {
    expect(() => searchDate('since', date)).toThrow(SearchSyntaxError);
  });

  test('takes the day of a Date in UTC', () => {
    expect(searchDate('until', new Date('2026-03-01T23:59:59+02:00'))).toBe('2026-03-01');
    expect(searchDate('until', new Date('2026-03-01T00:30:00+02:00'))).toBe('2026-02-28');
  });

  test('refuses an invalid Date, and one outside of the years 1 to 9999', () => {
    expect(() => searchDate('since', new Date(NaN))).toThrow(SearchSyntaxError);
    expect(() => searchDate('since', new Date('+010000-01-01T00:00:00Z'))).toThrow(
      SearchSyntaxError,
    );
    expect(() => searchDate('since', new Date('-000001-01-01T00:00:00Z'))).toThrow(
      SearchSyntaxError,
    );
    expect(() => searchDate('since', 20260101 as never)).toThrow(SearchSyntaxError);
  });

  test('every day of the calendar is taken', () => {
    const days = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(days, (day) => {
        const text = day.toISOString().slice(0, 10);
        expect(searchDate('since', day)).toBe(text);
        expect(searchDate('since', text)).toBe(text);
      }),
    );
  });
});

describe('format', () => {
  test.each([
    ['from:myself to:b x to:a type:opened y', 'x y to:b to:a type:opened from:myself'],
    ['template:Intro', 'template:"Intro"'],
    ['sequence:5f0c9a1b2c3d4e5f60718293', 'sequence:5f0c9a1b2c3d4e5f60718293'],
    ['sequence:"5f0c9a1b2c3d4e5f60718293"', 'sequence:5f0c9a1b2c3d4e5f60718293'],
    ['sequence:Welcome', 'sequence:"Welcome"'],
    ['from:Sales', 'from:"Sales"'],
    ['from:"myself"', 'from:myself'],
    ['template:"*"', 'template:*'],
    ['to:"ann"', 'to:ann'],
  ])('%j becomes %j', (text, canonical) => {
    expect(formatEventSearch(parseEventSearch(text))).toBe(canonical);
  });
});

describe('scan', () => {
  test('cuts a text into tokens with their positions', () => {
    expect([...scan(' hi "a b" to:"c d"')]).toEqual([
      { kind: 'word', value: 'hi', position: 1 },
      { kind: 'quoted', value: 'a b', position: 4 },
      { kind: 'operator', name: 'to', value: 'c d', position: 10, valuePosition: 13 },
    ]);
  });

  test('knows the operators by their lower-case names', () => {
    expect(['to:', 'from:x', 'sequence:'].map(startsOperator)).toEqual([true, true, true]);
    expect(['to', 'To:', 'xto:', 'toto:'].map(startsOperator)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('terms', () => {
  test.each([
    ['a@b', 'email'],
    ['ann@example.com', 'email'],
    ['a@b@c', 'name'],
    ['@example.com', 'name'],
    ['ann lee@example.com', 'name'],
    ['example.com', 'domain'],
    ['mail.example.co.uk', 'domain'],
    ['bücher.example', 'domain'],
    ['ann', 'name'],
    ['J. Doe', 'name'],
    ['J.', 'name'],
  ])('to:%s is read as %s', (value, kind) => {
    expect(withOperator({ to: [] }, 'to', value).to).toEqual([{ kind, value }]);
  });

  test('leaves the given tree alone', () => {
    const tree = Object.freeze({ to: Object.freeze([]) });
    expect(withOperator(tree, 'type', 'opened')).toEqual({ to: [], type: 'opened' });
    expect(tree).toEqual({ to: [] });
  });
});
