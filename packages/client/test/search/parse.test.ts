import { describe, expect, test } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import { SearchSyntaxError } from '../../src/errors.ts';
import { parseEventSearch } from '../../src/search/parse.ts';

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
      ['since:2026-01-01 since:2026-01-02', 'only once', 17],
      ['until:2026-01-01 until:2026-01-01', 'only once', 17],
      ['type:opened type:opened', 'only once', 12],
      ['template:* template:a', 'only once', 11],
      ['sequence:* sequence:a', 'only once', 11],
      ['from:a from:myself', 'only once', 7],
      ['"a" "b"', 'whole search', 4],
      ['hello "world"', 'whole search', 6],
      ['"world" to:ann', 'whole search', 8],
      ['"world" type:opened', 'whole search', 8],
      ['since:2026-01-01 "world"', 'whole search', 17],
      ['"world" hello', 'whole search', 8],
      ['ab "cd', 'not closed', 3],
      ['to:"cd', 'not closed', 3],
      ['ab"cd"', 'spaces around', 2],
      ['"ab"cd', 'spaces around', 4],
      ['to:ab"cd"', 'spaces around', 5],
      ['to:"a"b', 'spaces around', 6],
      ['""', 'quotes are empty', 0],
      ['to:" "', 'quotes are empty', 3],
      ['to:', 'needs a value', 3],
      ['to: ann', 'needs a value', 3],
      ['since:2026-02-30', 'calendar date', 6],
      ['a until:tomorrow', 'calendar date', 8],
      ['type:bounced', 'activity event types', 5],
      ['a\u0000', 'control character', 1],
      ['to:"a\u0007"', 'control character', 5],
      ['x \ud800', 'control character', 2],
    ])('%j: %s at %d', (text, message, position) => {
      expect(() => parseEventSearch(text)).toThrow(SearchSyntaxError);
      expect(() => parseEventSearch(text)).toThrow(expect.objectContaining({ position }));
      expect(() => parseEventSearch(text)).toThrow(message);
    });
  });

  const numRuns = Number(process.env['RUNS'] ?? 300);

  function check(text: string): void {
    try {
      parseEventSearch(text);
    } catch (error) {
      expect(error).toBeInstanceOf(SearchSyntaxError);
      const { position } = error as SearchSyntaxError;
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(text.length);
    }
  }

  test('random text never crashes the parser', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), check), { numRuns });
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
    fc.assert(fc.property(texts, check), { numRuns });
  });

  test('reads long text', () => {
    expect(parseEventSearch('to:a '.repeat(100_000)).to).toHaveLength(100_000);
    expect(parseEventSearch('word '.repeat(100_000)).text).toHaveLength(499_999);
  });
});

describe('dates', () => {
  test.each(['2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31'])('takes %s', (date) => {
    expect(parseEventSearch(`since:${date}`)).toEqual({ to: [], since: date });
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
    'yesterday',
  ])('refuses %j', (date) => {
    expect(() => parseEventSearch(`since:${date}`)).toThrow(SearchSyntaxError);
  });
});

describe('recipients', () => {
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
  ])('to:"%s" is read as %s', (value, kind) => {
    expect(parseEventSearch(`to:"${value}"`).to).toEqual([{ kind, value }]);
  });
});
