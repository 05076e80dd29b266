import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What is wrong with a built site, in words. An empty list: nothing. */
export function problemsOf(folder: string, site: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const pages = files.filter((name) => name.endsWith('.html'));
  const anchors = new Map(pages.map((page) => [page, anchorsOf(read(page))]));
  return [
    ...pages.flatMap((page) => [
      ...brokenLinks(page, read(page), { folder, site, anchors }),
      ...foreignRequests(page, read(page)),
    ]),
    ...files
      .filter((name) => name.endsWith('.css'))
      .flatMap((name) =>
        /url\(\s*["']?(?:https?:)?\/\//.test(read(name)) ? [`${name} loads from elsewhere`] : [],
      ),
    ...pages
      .filter(
        (page) => page !== '404.html' && !existsSync(join(folder, page.replace(/html$/, 'md'))),
      )
      .map((page) => `${page} has no Markdown twin`),
  ];
}

interface Site {
  readonly folder: string;
  readonly site: string;
  readonly anchors: ReadonlyMap<string, ReadonlySet<string>>;
}

const anchorsOf = (html: string) =>
  new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

/** Decoded, or as it is if it can't be: then no file and no anchor has this name. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function brokenLinks(page: string, html: string, { folder, site, anchors }: Site): string[] {
  const from = new URL(page, site);
  const links = [...html.matchAll(/<(?:a|img|link|script)\b[^>]*? (?:href|src)="([^"]*)"/g)];
  return links.flatMap(([, link = '']) => {
    const { href, hash, origin, pathname } = new URL(link.replaceAll('&amp;', '&'), from);
    const base = new URL(site);
    if (origin !== base.origin || !href.startsWith('http')) return [];
    if (!pathname.startsWith(base.pathname))
      return [`${page} links to ${link}, outside of the site`];
    const path = decode(pathname.slice(base.pathname.length));
    const target = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    if (!existsSync(join(folder, target)) || statSync(join(folder, target)).isDirectory())
      return [`${page} links to ${link}: no such page`];
    const anchor = decode(hash.slice(1));
    const isFound = anchor === '' || anchors.get(target)?.has(anchor) === true;
    return isFound ? [] : [`${page} links to ${link}: no such anchor`];
  });
}

/** Whatever a browser would load by itself has to come from the site. */
function foreignRequests(page: string, html: string): string[] {
  const loaded = [
    ...html.matchAll(/<(?:script|img|iframe|source)\b[^>]*? src="((?:https?:)?\/\/[^"]*)"/g),
    ...html.matchAll(
      /<link\b(?=[^>]*rel="(?:stylesheet|preload|modulepreload|icon|preconnect)")[^>]*? href="((?:https?:)?\/\/[^"]*)"/g,
    ),
  ];
  return loaded.map(([, url = '']) => `${page} loads ${url} from elsewhere`);
}
