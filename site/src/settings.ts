import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { entryPoints } from './entry-points.ts';
import { PAGES_FOLDER, REPOSITORY, SITE } from './repository.ts';
import { SECTIONS, START, type SitePage } from './sections.ts';

/** What `.vitepress/config.ts` reads. */
export interface Settings {
  /** The site's address, with a slash at its end. */
  readonly site: string;
  readonly repository: string;
  readonly nav: DefaultTheme.NavItem[];
  readonly sidebar: DefaultTheme.SidebarMulti;
}

const item = ({ title, path }: SitePage) => ({ text: title, link: `/${path}` });

const BACK = { text: '← Docs', link: `/${START.path}` };

/** The sidebar of all pages but the API's. */
const guides = () => [
  item(START),
  ...SECTIONS.map(({ title, pages }) => ({ text: title, items: pages.map(item) })),
];

export function writeSettings(): void {
  const api = entryPoints().map(({ name }) => ({ text: name, link: `/api/${name}.md` }));
  const settings: Settings = {
    site: SITE,
    repository: REPOSITORY,
    nav: [
      item({ ...START, title: 'Start' }),
      { text: 'Frameworks', link: '/frameworks.md' },
      { text: 'Outcomes', link: '/outcomes.md' },
      { text: 'API', link: '/api/index.md' },
    ],
    sidebar: {
      '/': guides(),
      '/api/': [
        BACK,
        { text: 'API', items: [{ text: 'All packages', link: '/api/index.md' }, ...api] },
      ],
    },
  };
  writeFileSync(join(PAGES_FOLDER, 'settings.json'), JSON.stringify(settings));
}
