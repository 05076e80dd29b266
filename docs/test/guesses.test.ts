import { expect, test } from '@jest/globals';
import { documents, read, sources } from './files.ts';

const LIST = 'docs/wire-contract.md';

/** The rows of the list of guesses: what the spec does not show, and the options that change it. */
const list = /## What is a guess\n([^]*)/.exec(read(LIST))?.[1] ?? '';
const rows = [...list.matchAll(/^\| ([^|]+?) +\|[^|]+\| *([^|]*?) *\|$/gm)]
  .map(([, name = '', options = '']) => ({ name, options }))
  .filter(({ name }) => name !== 'Not shown' && !/^-+$/.test(name));
const code = sources().map(read).join('\n');

test('the list and the @guess tags of the code name the same guesses', () => {
  const tags = [...code.matchAll(/^ *\/?\*+ @guess (.+?)(?: \*\/)?$/gm)].map(([, name]) => name);
  expect(rows.length).toBeGreaterThan(20);
  expect([...new Set(tags)].sort()).toEqual(rows.map(({ name }) => name).sort());
});

test('the options that change a guess exist', () => {
  const options = rows.flatMap((row) => [...row.options.matchAll(/`([a-zA-Z]+)`/g)]);
  expect(options.length).toBeGreaterThan(5);
  for (const [, option = ''] of options) expect(code).toMatch(new RegExp(`\\b${option}\\?:`));
});

test('no other document has a list of its own', () => {
  const others = documents().filter((file) => /^#+ What is a guess/m.test(read(file)));
  expect(others).toEqual([LIST]);
});
