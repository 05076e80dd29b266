import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mapLinks } from './links.ts';
import { PAGES_FOLDER, SITE, SITE_FOLDER } from './repository.ts';
import { SECTIONS, START, type SitePage } from './sections.ts';
import { descriptionOf } from './stage-pages.ts';

const SUMMARY =
  'Receive signed call webhooks in Express, Fastify, Next.js and other frameworks. Events are verified, deduplicated and typed, and acknowledged only after they are safe.';

/** What programs that read Markdown need: every page as `page.md`, llms.txt and llms-full.txt. */
export function writeMarkdownTwins(): void {
  const paths = readdirSync(PAGES_FOLDER, { recursive: true, encoding: 'utf8' });
  for (const path of paths.filter((name) => name.endsWith('.md'))) {
    const file = join(SITE_FOLDER, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, twinOf(path));
  }
  writeFileSync(join(SITE_FOLDER, 'llms.txt'), index());
  writeFileSync(join(SITE_FOLDER, 'llms-full.txt'), everything());
}

/** A page without what only VitePress reads, with links that work from anywhere. */
function twinOf(path: string): string {
  const [, matter = '', text = ''] =
    /^---\n(.*?)^---\n(.*)$/ms.exec(readFileSync(join(PAGES_FOLDER, path), 'utf8')) ?? [];
  const linked = mapLinks(text.trimStart(), (link) =>
    link.startsWith('/') ? SITE + link.slice(1) : link,
  );
  return matter.includes('layout: home') ? `# call-webhooks\n\n${SUMMARY}\n\n${linked}` : linked;
}

const isProject = (title: string) => title === 'Project';

const line = ({ title, path }: SitePage) => {
  const description = descriptionOf(twinOf(path));
  return `- [${title}](${SITE}${path})${description ? `: ${description}` : ''}`;
};

/** The form is that of https://llmstxt.org. What comes below "Optional" can be left out. */
function index(): string {
  const sections = SECTIONS.filter(({ title }) => !isProject(title));
  const rest = SECTIONS.filter(({ title }) => isProject(title)).flatMap(({ pages }) => pages);
  return [
    `# call-webhooks\n\n> ${SUMMARY}\n`,
    `All guides in one file: [llms-full.txt](${SITE}llms-full.txt)\n`,
    `## Start\n\n${line(START)}\n`,
    ...sections.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join('\n')}\n`),
    `## API\n\n- [API reference](${SITE}api/index.md): every function and type of every package.\n`,
    `## Optional\n\n${rest.map(line).join('\n')}\n`,
  ].join('\n');
}

/** All pages but the API reference and what is about the project itself. */
function everything(): string {
  const pages = SECTIONS.filter(({ title }) => !isProject(title)).flatMap((one) => one.pages);
  return [START, ...pages]
    .map(({ path }) => `<!-- ${SITE}${path} -->\n\n${twinOf(path).trim()}\n`)
    .join('\n');
}
