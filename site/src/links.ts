import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { REPOSITORY, ROOT } from './repository.ts';
import { PAGES } from './sections.ts';

const BLOB = `${REPOSITORY}/blob/main/`;

/** A block of code, also in a list or within four backticks; code in a line; or a link. */
const CODE_OR_LINK = new RegExp(
  [
    /(?<code>^(?<indent> *)(?<fence>`{3,}|~{3,}).*\n(?:.*\n)*?\k<indent>\k<fence> *$|`[^`\n]*`)/,
    /(?<=\]\()[^)\s]+(?=\))/,
    /(?<=(?:src|href)=")[^"]+(?=")/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
);

/** Changes the links of a Markdown text, but not what looks like one in its code. */
export const mapLinks = (markdown: string, map: (link: string) => string): string =>
  markdown.replace(CODE_OR_LINK, (found: string, code: string | undefined) =>
    code === undefined ? map(found) : found,
  );

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
