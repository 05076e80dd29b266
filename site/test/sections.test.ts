import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { entryPoints } from '../src/entry-points.ts';
import { publicPackages, ROOT } from '../src/repository.ts';
import { PAGES } from '../src/sections.ts';

const markdown = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

it('every document is a page of the site, once', () => {
  const documents = [
    ...markdown('docs'),
    ...markdown('contributors'),
    ...publicPackages().map(({ folder }) => `packages/${folder}/README.md`),
    ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ];
  expect(PAGES.map(({ source }) => source).sort()).toEqual(documents.sort());
  expect(new Set(PAGES.map(({ path }) => path)).size).toBe(PAGES.length);
});

it('the API reference has every import of every package', () => {
  const names = entryPoints().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['core', 'core/web', 'next/pages']));
  expect(names).not.toContain('cli'); // it exports nothing
});
