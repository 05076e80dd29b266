import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { publicPackages, read, ROOT } from './repository.ts';

/** A page of the site that is made of a Markdown file of this repository. */
export interface SitePage {
  /** The file, from the root of the repository. */
  readonly source: string;
  /** The page, from the root of the site, with `.md`. */
  readonly path: string;
  /** Its name in the sidebar. */
  readonly title: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

const doc = (name: string, title: string): SitePage => ({
  source: `docs/${name}.md`,
  path: `${name}.md`,
  title,
});

const readme = (name: string, title: string): SitePage => ({
  source: `packages/${name}/README.md`,
  path: `packages/${name}.md`,
  title,
});

/** A document named by its heading. */
const titled = (name: string) => {
  const [, title = name] = /^# (.*)$/m.exec(read(`docs/${name}.md`)) ?? [];
  return doc(name, title.replaceAll('`', ''));
};

const namesIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.replace(/\.md$/, ''));

/** The first page after the home page. */
export const START: SitePage = doc('start', 'Start in five minutes');

const contributors = (name: string, title: string): SitePage => ({
  source: `contributors/${name}.md`,
  path: `${name}.md`,
  title,
});

/** Who adds a document need not list it here: it is below Reference, or Packages, until it has its place. */
const LISTED: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      doc('field-names', 'Field names'),
      doc('testing', 'Testing your handlers'),
      doc('simulator', 'Simulator'),
      doc('listen', 'Real deliveries on your machine'),
      doc('doctor', 'Check your setup'),
      doc('command-line', 'Command line'),
    ],
  },
  {
    title: 'Frameworks',
    pages: [
      doc('frameworks', 'All frameworks'),
      readme('express', 'Express'),
      readme('fastify', 'Fastify'),
      readme('next', 'Next.js'),
      readme('nest', 'Nest'),
      readme('adapters', 'Hono, Koa, SvelteKit, AWS Lambda'),
      readme('cloudflare', 'Cloudflare Workers'),
      readme('core', 'Anything else'),
    ],
  },
  {
    title: 'Build',
    pages: [
      doc('failures', 'Failures'),
      doc('exactly-once', 'Exactly once'),
      doc('one-row-per-call', 'One row per call'),
      doc('custom-events', 'Custom payloads and further events'),
      doc('stores', 'Stores'),
      doc('queues', 'Queues'),
      doc('write-a-store', 'Writing a store'),
      doc('write-a-queue', 'Writing a queue'),
      doc('forwarding', 'Forwarding to a broker'),
      doc('tenants', 'Tenants'),
      doc('rest-client', 'REST client'),
    ],
  },
  {
    title: 'Run',
    pages: [
      doc('production', 'Production checklist'),
      doc('migrating', 'Replacing your own receiver'),
      doc('secrets', 'Secrets'),
      doc('deploying', 'Deploying'),
      doc('kubernetes', 'Kubernetes'),
      doc('serverless', 'Serverless functions'),
      doc('proxies', 'Proxies'),
      doc('status', 'Status'),
      doc('recovery', 'Recovery'),
      doc('observability', 'Observability'),
      doc('console', 'Console'),
      doc('assistants', 'Assistants'),
      doc('personal-data', 'Personal data'),
      doc('upgrading', 'Upgrading'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      doc('options', 'Options'),
      doc('context', "The handler's context"),
      doc('outcomes', 'Outcomes'),
      doc('wire-contract', 'Wire contract'),
      doc('conformance', 'Grading a receiver'),
      doc('security', 'Security'),
      doc('outcome-log', 'The outcome log'),
      doc('performance', 'Performance'),
      doc('cost', 'Cost per event'),
      doc('glossary', 'Glossary'),
    ],
  },
  { title: 'Packages', pages: [] }, // those that have no place above
  {
    title: 'Project',
    pages: [
      { source: 'CHANGELOG.md', path: 'changelog.md', title: 'Changelog' },
      { source: 'CONTRIBUTING.md', path: 'contributing.md', title: 'Contributing' },
      { source: 'SECURITY.md', path: 'security-policy.md', title: 'Security policy' },
      contributors('architecture', 'Architecture'),
      contributors('decisions', 'Decisions'),
      contributors('evidence', 'Evidence'),
    ],
  },
];

const isListed = ({ source }: SitePage) =>
  [START, ...LISTED.flatMap(({ pages }) => pages)].some((page) => page.source === source);

const unlisted: Record<string, SitePage[]> = {
  Reference: namesIn('docs')
    .map(titled)
    .filter((page) => !isListed(page)),
  Packages: publicPackages()
    .map(({ folder, name }) => readme(folder, name))
    .filter((page) => !isListed(page)),
};

/** The site's pages in the order of the sidebar. The API reference has a sidebar of its own. */
export const SECTIONS: readonly Section[] = LISTED.map((section) => ({
  ...section,
  pages: [...section.pages, ...(unlisted[section.title] ?? [])],
}));

export const PAGES: readonly SitePage[] = [START, ...SECTIONS.flatMap(({ pages }) => pages)];
