import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.next']);

const documentsIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((one) => {
    const path = join(folder, one.name);
    if (one.isDirectory()) return NOT_OURS.has(one.name) ? [] : documentsIn(path);
    return one.name.endsWith('.md') ? [path] : [];
  });
const documents = documentsIn('.');

/** A document without its programs: what looks like a link in them is none. */
const textOf = (name: string) =>
  readFileSync(join(ROOT, name), 'utf8').replace(/^```.*?^```/gms, '');

/** The anchor that a heading gets. */
const anchorOf = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (name: string) => [
  'readme', // of a folder that is shown
  ...[...textOf(name).matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) => anchorOf(heading)),
];

const linksOf = (name: string) =>
  [...textOf(name).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(([, link, attribute]) => link ?? attribute ?? '')
    .filter((link) => !/^[a-z]+:/.test(link));

function isBroken(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : normalize(join(dirname(document), path));
  if (!existsSync(join(ROOT, target))) return true;
  if (anchor === undefined) return false;
  const folder = statSync(join(ROOT, target)).isDirectory();
  return !anchorsOf(folder ? join(target, 'README.md') : target).includes(anchor);
}

test('every relative link of the docs leads to a file, and to a heading in it', () => {
  const links = documents.flatMap((name) => linksOf(name).map((link) => ({ name, link })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ name, link }) => isBroken(name, link))).toEqual([]);
});
