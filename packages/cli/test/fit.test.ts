import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { colorsFor } from '../src/terminal/colors.ts';
import { cut, paragraph, wrap } from '../src/terminal/fit.ts';
import { pairs, table } from '../src/terminal/table.ts';
import { t, text, widthOf } from '../src/terminal/text.ts';

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
    expect(cut(colorsFor(true).red('abcdef'), 4, 'end').styled).toBe('\u001b[31mabc…\u001b[39m');
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
    { title: 'time', drop: 1 },
    { title: 'id', cut: 'id' },
    { title: 'receiver', cut: 'middle' },
  ] as const;
  const rows = [['16:49:39Z', '0123456789abcdef', '127.0.0.1:3000/hook']];

  test('columns shrink, and then the least important are left out', () => {
    const no = colorsFor(false);
    expect(plainOf(table(no, head, rows, 40))).toEqual(
      ['time       id        receiver           ', '16:49:39Z  01234567  127.0.0.1:3000/hook'].map(
        (line) => line.trimEnd(),
      ),
    );
    expect(plainOf(table(no, head, rows, 35))[1]).toBe('16:49:39Z  01234567  127.0.0…0/hook');
    expect(plainOf(table(no, head, rows, 28))[1]).toBe('01234567  127.0.0.1…000/hook');
    // Without a terminal, and with --wide, nothing is left out.
    expect(plainOf(table(no, head, rows))[1]).toBe(
      '16:49:39Z  0123456789abcdef  127.0.0.1:3000/hook',
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
