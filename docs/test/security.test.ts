import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const DOC = new URL('../security.md', import.meta.url);

/** The rows of the threat model: who attacks, and the cell that names what shows the defence. */
const threats = readFileSync(DOC, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(/ +\| +/))
  .filter((cells) => cells.length === 4 && cells[0] !== 'attacker' && !/^-+$/.test(cells[0] ?? ''));

/** The files that a cell links to, each with the names in quotes that follow it. */
const evidenceOf = (cell: string) =>
  cell.split(/(?=\[[^\]]*\]\()/).flatMap((part) => {
    const file = /\]\(([^)#]+)\)/.exec(part)?.[1];
    const names = [...part.matchAll(/“([^”]+)”/g)].map(([, name = '']) => name);
    return file === undefined ? [] : [{ file, names }];
  });

test('every threat names a file that shows the defence', () => {
  expect(threats.length).toBeGreaterThan(12);
  for (const [attacker, , , shown = ''] of threats)
    expect({ attacker, files: evidenceOf(shown).length }).not.toEqual({ attacker, files: 0 });
});

test('every test, row and mutant that it names is in that file', () => {
  const evidence = threats.flatMap(([, , , shown = '']) => evidenceOf(shown));
  expect(evidence.flatMap(({ names }) => names).length).toBeGreaterThan(25);
  const missing = evidence.flatMap(({ file, names }) => {
    const source = readFileSync(new URL(file, DOC), 'utf8');
    return names.filter((name) => !source.includes(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});
