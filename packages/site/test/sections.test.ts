import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { entryPoints } from '../src/entry-points.ts';
import { read, ROOT, SITE } from '../src/repository.ts';
import { PAGES, publicPackages } from '../src/sections.ts';

const markdown = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

it('every document is a page of the site, once', () => {
  const documents = [
    ...['docs', 'docs/decisions', 'docs/evidence'].flatMap(markdown),
    ...publicPackages()
      .map((name) => `packages/${name}/README.md`)
      .filter((file) => existsSync(join(ROOT, file))),
    ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ];
  expect(PAGES.map(({ source }) => source).sort()).toEqual(documents.sort());
  expect(new Set(PAGES.map(({ path }) => path)).size).toBe(PAGES.length);
});

it('a page of docs has the path that docsUrl gives it', () => {
  const pages = PAGES.filter(({ source }) => /^docs\/[\w-]+\.md$/.test(source));
  expect(pages.length).toBeGreaterThan(15);
  for (const { source, path } of pages) expect(`docs/${path}`).toBe(source);
});

it('the README leads to the site', () => {
  expect(read('README.md')).toContain(`](${SITE})`);
});

it('the API reference has every import of every package', () => {
  const names = entryPoints().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['core', 'core/web', 'next/pages', 'client/infer']));
  expect(names).not.toContain('cli'); // it exports nothing
  expect(names.length).toBeGreaterThan(20);
});
