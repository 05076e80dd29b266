import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { REPOSITORY, ROOT } from './repository.ts';
import { PAGES } from './sections.ts';

const LINK = /(?<=\]\()[^)\s]+(?=\))|(?<=(?:src|href)=")[^"]+(?=")/g;
const FENCES = /(^```.*?^```$)/ms;
const BLOB = `${REPOSITORY}/blob/main/`;

/** Changes the links of a Markdown text. What looks like a link in a program is none. */
export const mapLinks = (markdown: string, map: (link: string) => string): string =>
  markdown
    .split(FENCES)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(LINK, map)))
    .join('');

const pageOf = (source: string) => PAGES.find((page) => page.source === source);

/**
 * Where a link of a document leads to from the site: to a page of it, to an image of it, or to the
 * repository.
 * @param source the document, from the root of the repository
 */
export function linkOnSite(source: string, link: string): string {
  const isOurs = link.startsWith(BLOB);
  if (/^[#/]/.test(link) || (/^[a-z]+:/.test(link) && !isOurs)) return link;
  const [path = '', anchor] = (isOurs ? link.slice(BLOB.length) : link).split('#');
  const target = (isOurs ? path : normalize(join(dirname(source), path))).replace(/\/$/, '');
  const hash = anchor === undefined || anchor === 'readme' ? '' : `#${anchor}`;
  const page = pageOf(target) ?? pageOf(`${target}/README.md`);
  if (page) return `/${page.path}${hash}`;
  if (/\.(?:png|svg)$/.test(target)) return `/images/${basename(target)}`;
  if (!existsSync(join(ROOT, target))) throw new Error(`${source} links to ${link}: no such file.`);
  const kind = statSync(join(ROOT, target)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${target}${hash}`;
}
