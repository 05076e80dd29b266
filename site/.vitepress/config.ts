import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../src/anchor.ts';
import type { Settings } from '../src/settings.ts';

// Vite can't load core here, as it isn't built yet, so what comes from there is read from a file.
const { site, repository, nav, sidebar } = JSON.parse(
  readFileSync(new URL('../.pages/settings.json', import.meta.url), 'utf8'),
) as Settings;

/** A check mark; inline, so that no request is made for it. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/><path d="m9 17 5 5 9-12" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`;

export default defineConfig({
  lang: 'en',
  title: 'call-webhooks',
  description: 'Receive signed call webhooks in Node.js: verified, deduplicated, typed.',
  base: new URL(site).pathname,
  srcDir: '.pages',
  outDir: 'dist',
  // Guides name addresses of the reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: ICON }]],
  sitemap: { hostname: site },
  markdown: {
    anchor: { slugify: anchorOf },
    // The usual themes have comments that are too pale to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // The page as Markdown, for programs that read it.
  transformPageData(page) {
    const head = ((page.frontmatter['head'] as unknown[] | undefined) ??= []);
    head.push([
      'link',
      { rel: 'alternate', type: 'text/markdown', href: site + page.relativePath },
    ]);
  },
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // Of the API reference the names are enough: its texts would make the index three times as large.
        _render(source, env: { relativePath: string }, markdown) {
          const html = markdown.render(source, env);
          if (!env.relativePath.startsWith('api/')) return html;
          return (html.match(/<h[1-3]\b.*?<\/h[1-3]>/gs) ?? []).join('\n');
        },
      },
    },
    editLink: {
      text: 'Edit this page',
      pattern: ({ frontmatter }) => String(frontmatter['edit']),
    },
    socialLinks: [{ icon: 'github', link: repository }],
    externalLinkIcon: false,
  },
});
