import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const CORE = fileURLToPath(new URL('../../packages/core/src', import.meta.url));
const text = readFileSync(new URL('../../contributors/architecture.md', import.meta.url), 'utf8');

/** Floor by folder or file, as the table has it. */
const floors = new Map(
  [...text.matchAll(/^\| (\d+) +\| ([^|]+)\|/gm)].flatMap(([, floor, rooms = '']) =>
    [...rooms.matchAll(/`([^`]+)`/g)].map(([, room = '']) => [room, Number(floor)] as const),
  ),
);

const files = readdirSync(CORE, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

/** A file, if the table has it, or else its folder. */
const roomOf = (file: string) => (floors.has(file) ? file : (file.split('/')[0] as string));

/** The files whose values a file imports or exports again; types may come from anywhere. */
const importsOf = (file: string) =>
  [
    ...readFileSync(join(CORE, file), 'utf8').matchAll(
      /^(?:import|export) (?!type )([^;]*?) from '(\.[^']+|#platform)'/gm,
    ),
  ]
    .filter(([, names = '']) => !/^\{(\s*type [\w ]+,?)+\s*\}$/.test(names))
    .map(([, , path = '']) =>
      path === '#platform' ? 'platform/node.ts' : normalize(join(dirname(file), path)),
    );

describe('the floors of core', () => {
  it('are those of the document, each file on one of them', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...floors.keys()].sort());
  });

  it('are imported downwards only', () => {
    const imports = files.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
    expect(imports.length).toBeGreaterThan(100);
    const floorOf = (file: string) => floors.get(roomOf(file)) ?? NaN;
    const wrong = imports.filter(
      ({ file, target }) => roomOf(file) !== roomOf(target) && !(floorOf(file) > floorOf(target)),
    );
    expect(wrong).toEqual([]);
  });

  it('have no two files that need each other', () => {
    const left = new Map(files.map((file) => [file, importsOf(file)]));
    const isFree = (targets: string[]) => targets.every((target) => !left.has(target));
    for (let size = 0; size !== left.size;) {
      size = left.size;
      for (const [file, targets] of left) if (isFree(targets)) left.delete(file);
    }
    expect([...left.keys()]).toEqual([]);
  });
});
