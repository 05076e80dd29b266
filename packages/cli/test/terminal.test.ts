import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import { colorsFor, wantsColor } from '../src/terminal/text.ts';
import { bodyLines, dateTime, duration, timeOfDay } from '../src/terminal/format.ts';
import { showProgress } from '../src/terminal/prompts.ts';
import { leftOut, table, pairs } from '../src/terminal/table.ts';
import {
  escapeControl,
  isPrintable,
  jsonLine,
  pad,
  t,
  text,
  widthOf,
} from '../src/terminal/text.ts';
import type { Io, Sink } from '../src/io.ts';
import { cut, paragraph, wrap } from '../src/terminal/table.ts';

const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('a payload cannot control the terminal', () => {
  test.each([
    ['an escape sequence', '\u001b[2J', '\\x1b[2J'],
    ['a C1 control', '\u009b31m', '\\x9b31m'],
    ['a bidirectional override', '\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['a tag character', '\u{e0041}', '\\u{e0041}'],
    ['lines and bells', 'a\r\n\u0007\tb', 'a\\r\\n\\x07\\tb'],
    ['a lone surrogate', '\ud800x', '\\u{d800}x'],
  ])('%s is escaped', (_what, given, shown) => {
    expect(escapeControl(given)).toBe(shown);
  });

  test('ordinary text stays as it is, with emoji and joiners', () => {
    const text = 'Ada Łukasz 李 👩\u200d💻 “quoted” €';
    expect(escapeControl(text)).toBe(text);
  });

  test('no text, no template and no JSON lets anything through', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (given) => {
        const { red } = colorsFor(false);
        expect(t`${given} ${red(given)}`.styled).not.toMatch(UNSAFE);
        const json = jsonLine({ [given]: given });
        expect(json).not.toMatch(UNSAFE);
        expect(JSON.parse(json)).toEqual({ [given]: given });
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  test('a long body is cut', () => {
    const shown = bodyLines('a\nb\u001b\nc', 2).map(({ plain }) => plain);
    expect(shown).toEqual(['a', 'b\\x1b', '… 1 more line']);
  });

  test('a body with control characters does not go on a command line', () => {
    expect(isPrintable('{\n\t"a": 1}')).toBe(true);
    expect(isPrintable('a\u001b')).toBe(false);
  });
});

describe('colors', () => {
  const stream = (isTTY: boolean) => ({ isTTY }) as unknown as Sink;

  test.each([
    ['a terminal', undefined, {}, true, true],
    ['a pipe', undefined, {}, false, false],
    ['NO_COLOR', undefined, { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR', undefined, { NO_COLOR: '' }, true, true],
    ['FORCE_COLOR in a pipe', undefined, { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0', undefined, { FORCE_COLOR: '0' }, true, false],
    ['FORCE_COLOR over NO_COLOR', undefined, { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    ['--color over NO_COLOR', true, { NO_COLOR: '1' }, false, true],
    ['--no-color over FORCE_COLOR', false, { FORCE_COLOR: '1' }, true, false],
    ['a dumb terminal', undefined, { TERM: 'dumb' }, true, false],
  ])('%s', (_what, flag, env, isTTY, coloured) => {
    expect(wantsColor(flag, env, stream(isTTY))).toBe(coloured);
  });

  test('columns are as wide as what is seen', () => {
    const { red } = colorsFor(true);
    expect(pad(red('ab'), 4).plain).toBe('ab  ');
    expect(pad('李', 4).plain).toBe('李  ');
    const [, first, second] = table(
      colorsFor(true),
      [{ title: 'a' }, { title: 'b' }],
      [
        [red('long'), 1],
        ['x', 2],
      ],
    );
    expect(first?.plain).toBe('long  1');
    expect(second?.plain).toBe('x     2');
  });
});

describe('progress and time', () => {
  test('times are in UTC, and say so', () => {
    const time = new Date('2026-01-31T16:49:39.120Z');
    expect(dateTime(time)).toBe('2026-01-31 16:49:39Z');
    expect(Date.parse(dateTime(time))).toBe(Date.parse('2026-01-31T16:49:39Z'));
    expect(timeOfDay(time.getTime())).toBe('16:49:39Z');
  });

  test.each([
    [true, '\r\u001b[K1 of 2\r\u001b[K'],
    [false, ''],
  ])('progress is a line that is removed, at a terminal alone', (isTTY, shown) => {
    const written: string[] = [];
    const stderr = { isTTY, write: (text: string) => written.push(text) };
    const progress = showProgress({ stderr } as unknown as Io);
    progress.update(1, 2);
    progress.clear();
    expect(written.join('')).toBe(shown);
  });

  test.each([
    [450, '450 ms'],
    [4_200, '4.2 s'],
    [30_000, '30 s'],
    [303_000, '5 min 3 s'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms is %s', (ms, shown) => {
    expect(duration(ms)).toBe(shown);
  });
});

describe('nothing is wider than the terminal', () => {
  const plainOf = (shown: readonly { plain: string }[]) => shown.map(({ plain }) => plain);

  test('text is wrapped between words, and keeps its colors', () => {
    const value = 'the service would retry in about five minutes';
    expect(plainOf(paragraph(value, 30, 4))).toEqual([
      '    the service would retry in',
      '    about five minutes',
    ]);
    const { red } = colorsFor(true);
    const lines = wrap(t`  ${red('one two')} three`, 9);
    expect(plainOf(lines)).toEqual(['  one two', '  three']);
    expect(lines[0]?.styled).toBe('  \u001b[31mone two\u001b[39m');
  });

  test('a word that is longer than a line stays whole, to be copied', () => {
    const id = 'x'.repeat(30);
    expect(plainOf(wrap(text(`Details: show ${id} now`), 20))).toEqual([
      'Details: show',
      id,
      'now',
    ]);
  });

  test('ids and URLs are cut in the middle, texts at the end', () => {
    expect(cut('http://127.0.0.1:3000/hook', 15, 'middle').plain).toBe('http://…00/hook');
    expect(cut('a long sentence', 8, 'end').plain).toBe('a long …');
    expect(cut('short', 8, 'end').plain).toBe('short');
  });

  test('a value of which a part is colored is cut as any other', () => {
    const { yellow } = colorsFor(true);
    const cases = fc.tuple(
      fc.string(),
      fc.string({ minLength: 1 }),
      fc.integer({ min: 2, max: 30 }),
    );
    fc.assert(
      fc.property(cases, fc.constantFrom('middle', 'end', 'id'), ([start, end, width], where) => {
        const { styled, plain } = cut(t`${start} ${yellow(end)}`, width, where);
        expect(stripVTControlCharacters(styled)).toBe(plain);
        expect(widthOf(plain)).toBeLessThanOrEqual(width);
      }),
      { seed: 7 },
    );
  });

  const head = [
    { title: 'id', cut: 'id' },
    { title: 'receiver', cut: 'middle' },
    { title: 'time' },
  ] as const;
  const rows = [['0123456789abcdef', '127.0.0.1:3000/hook', '16:49:39Z']];

  test('a table is cut at the width of the terminal', () => {
    const no = colorsFor(false);
    expect(plainOf(table(no, head, rows, 40))).toEqual([
      'id        receiver             time     '.trimEnd(),
      '01234567  127.0.0.1:3000/hook  16:49:39Z',
    ]);
    // A column of which only some letters would be seen is left out, and named.
    expect(plainOf(table(no, head, rows, 35))[1]).toBe('01234567  127.0.0.1:3000/hook');
    expect(leftOut(head, rows, 35)).toEqual(['time']);
    expect(leftOut(head, rows, 40)).toEqual([]);
    expect(plainOf(table(no, head, rows, 20))[1]).toBe('01234567  127.0…hook');
    // Without a terminal, and with --wide, nothing is cut.
    expect(plainOf(table(no, head, rows))[1]).toBe(
      '0123456789abcdef  127.0.0.1:3000/hook  16:49:39Z',
    );
  });

  test('no row is wider than the terminal, whatever it holds', () => {
    const cells = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), {
      minLength: 3,
      maxLength: 3,
    });
    fc.assert(
      fc.property(
        fc.array(cells, { maxLength: 5 }),
        fc.integer({ min: 20, max: 120 }),
        (all, width) => {
          const columns = head.map((one) => ({ cut: 'end' as const, ...one }));
          for (const line of table(colorsFor(false), columns, all, width))
            expect(widthOf(line)).toBeLessThanOrEqual(width);
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  test('long values of pairs are wrapped, but a word stays whole, to be copied', () => {
    const lines = pairs(
      colorsFor(false),
      [
        ['name', 'a value of words'],
        ['url', 'http://127.0.0.1:3000/hook'],
      ],
      20,
    );
    expect(plainOf(lines)).toEqual([
      'name  a value of',
      '      words',
      'url   http://127.0.0.1:3000/hook',
    ]);
  });
});
