import { describe, expect, it } from '@jest/globals';
import { read, sources } from './files.ts';

const page = read('docs/wire-contract.md');
const list = page.slice(page.indexOf('## What is a guess'));

/** The rows of the list: what is not shown, what we assume, and the options that change it. */
const guesses = list
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (Not shown|-)/.test(line))
  .map((line) => line.slice(2, -2).split(/ +\| */));

describe('the list of guesses', () => {
  it('names what is assumed for each, and options that exist', () => {
    expect(guesses.length).toBeGreaterThan(15);
    const options = sources()
      .map((file) => read(file))
      .join('\n');
    for (const [unknown, assumed, settings = ''] of guesses) {
      expect({ unknown, assumed }).toEqual({ unknown, assumed: expect.stringMatching(/\w{3}/) });
      for (const [, option = ''] of settings.matchAll(/`(\w+)`/g))
        expect({ option, known: new RegExp(`\\b${option}\\??:`).test(options) }).toEqual({
          option,
          known: true,
        });
    }
  });

  it('has a row for each `@guess` of the sources, and the sources have one for each row', () => {
    const marked = sources().flatMap((file) =>
      [...read(file).matchAll(/@guess (.+?)(?: \*\/)?$/gm)].map(([, guess = '']) => guess),
    );
    expect([...new Set(marked)].sort()).toEqual(guesses.map(([unknown]) => unknown).sort());
  });
});
