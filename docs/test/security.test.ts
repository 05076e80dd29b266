import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { read, sources } from './files.ts';

const SECURITY = new URL('../security.md', import.meta.url);
const THREATS = new URL('../evidence/threats.md', import.meta.url);

/** The rows of a document's table of attacks: the attack, and what stands beside it. */
const attacksOf = (document: URL) =>
  readFileSync(document, 'utf8')
    .split(/^\| attack .*$/m)[1]!
    .split('\n\n')[0]!
    .split('\n')
    .slice(2)
    .filter((line) => line !== '')
    .map((line) => line.slice(2, -2).split(/ +\| +/))
    .map(([attack = '', beside = '']) => ({ attack: attack.trim(), beside }));

/** The files that a cell links to, each with the quoted names that follow it. */
const evidenceOf = (cell: string) =>
  cell.split(/(?=\[[^\]]*\]\()/).flatMap((part) => {
    const file = /\]\(([^)#]+)\)/.exec(part)?.[1];
    const names = [...part.matchAll(/“([^”]+)”/g)].map(([, name = '']) => name);
    return file === undefined ? [] : [{ file, names }];
  });

const threats = attacksOf(THREATS);

test('every attack of the threat model has its tests', () => {
  expect(threats.length).toBeGreaterThan(12);
  expect(threats.map(({ attack }) => attack)).toEqual(
    attacksOf(SECURITY).map(({ attack }) => attack),
  );
  for (const { attack, beside } of threats)
    expect({ attack, files: evidenceOf(beside).length }).not.toEqual({ attack, files: 0 });
});

test('every named test and row exists in its file', () => {
  const evidence = threats.flatMap(({ beside }) => evidenceOf(beside));
  expect(evidence.flatMap(({ names }) => names).length).toBeGreaterThan(25);
  const missing = evidence.flatMap(({ file, names }) => {
    const source = readFileSync(new URL(file, THREATS), 'utf8');
    return names.filter((name) => !source.includes(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('nothing that takes requests can call receiver.deliver', () => {
  const adapters = sources().filter((file) =>
    /^packages\/(express|fastify|next)\/src\/|^packages\/core\/src\/(node|web|http|receiver\/receive)\b/.test(
      file,
    ),
  );
  expect(adapters.length).toBeGreaterThan(8);
  const callers = adapters.filter((file) => /\bdeliver\b|deliver\.ts/i.test(read(file)));
  expect(callers).toEqual([]);
});
