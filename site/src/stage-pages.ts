import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linkOnSite, mapLinks } from './links.ts';
import { PAGES_FOLDER, read, REPOSITORY, ROOT } from './repository.ts';
import { PAGES, type SitePage } from './sections.ts';

export const HOME = 'site/home.md';

/** Writes the documents of this repository as VitePress wants them. */
export function stagePages(): void {
  rmSync(PAGES_FOLDER, { recursive: true, force: true });
  for (const page of PAGES) writePage(page.path, contentOf(page));
  writePage('index.md', homePage());
  cpSync(join(ROOT, 'docs/images'), join(PAGES_FOLDER, 'public/images'), { recursive: true });
}

function writePage(path: string, content: string): void {
  const file = join(PAGES_FOLDER, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function contentOf({ source }: SitePage): string {
  const text = mapLinks(read(source), (link) => linkOnSite(source, link));
  const matter = { description: descriptionOf(text), edit: `${REPOSITORY}/edit/main/${source}` };
  return frontmatter(matter) + text;
}

/** JSON is YAML. */
const frontmatter = (values: Record<string, string>) =>
  `---\n${Object.entries(values)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')}---\n\n`;

/** The first paragraph of a page as plain text, cut after a sentence. */
export function descriptionOf(markdown: string): string {
  const paragraph = markdown
    .replace(/^---\n.*?^---\n/ms, '')
    .split(/\n{2,}/)
    .find((block) => /^[\w`*[@]/.test(block.trim()));
  const text = (paragraph ?? '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const [sentences = text] = /^.{40,220}?[.:](?= |$)/.exec(text) ?? [];
  return sentences;
}

/** The home page, with the first program of the README, which is run by a test. */
function homePage(): string {
  const [program = ''] = /^```ts\n.*?^```$/ms.exec(read('README.md')) ?? [];
  const home = mapLinks(read(HOME), (link) => linkOnSite(HOME, link));
  return home.replace('<!-- the first program of the README -->', () => program);
}
