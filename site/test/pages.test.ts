import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OUTCOMES } from '@call-webhooks/core';
import { THROWN_ERRORS, docsUrl } from '@call-webhooks/core/internal';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page, Response } from 'playwright-core';
import { SITE, SITE_FOLDER } from '../src/repository.ts';
import { serveSite, type ServedSite } from './serve-site.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = ['index.html', 'start.html', 'packages/express.html', 'outcomes.html'];
const REFERENCE = ['api/index.html', 'api/express.html', 'wire-contract.html'];
const WINDOWS = [
  [1440, 'light'],
  [1440, 'dark'],
  [900, 'light'],
  [390, 'dark'],
] as const;

let site: ServedSite;
beforeAll(async () => {
  site = await serveSite();
});
afterAll(() => site.close());

const read = (file: string) => readFileSync(join(SITE_FOLDER, file), 'utf8');

interface Findings {
  readonly violations: readonly { readonly id: string; readonly nodes: { target: string[] }[] }[];
}

/** Vue has taken over the page. */
const isReady = (page: Page) =>
  page.waitForFunction("document.querySelector('#app')?.__vue_app__ !== undefined");

/** What axe finds, in words. */
async function findings(page: Page): Promise<string[]> {
  await page.addScriptTag({ content: AXE });
  const { violations } = await page.evaluate<Findings>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${String(nodes[0]?.target)}`);
}

describeInChromium('the built site', (chromium) => {
  async function open(path: string, width: number, colorScheme: 'light' | 'dark' = 'light') {
    const page = await chromium.page({ viewport: { width, height: 900 }, colorScheme });
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(site.url('')) && !url.startsWith('data:')) problems.push(`asked: ${url}`);
    });
    await page.goto(site.url(path));
    await isReady(page);
    return { page, problems };
  }

  const views = [...PAGES, ...REFERENCE].flatMap((path) =>
    WINDOWS.map(([width, scheme]) => [path, width, scheme] as const),
  );
  it.each(views)('%s, %s px, %s: fits, and axe finds nothing', async (path, width, scheme) => {
    const { page, problems } = await open(path, width, scheme);
    const sideways = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect({ sideways, found: await findings(page), problems }).toEqual({
      ...{ sideways: 0, found: [], problems: [] },
    });
  });

  it('search finds an outcome, and axe finds nothing in it', async () => {
    const { page, problems } = await open('start.html', 1440);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('signature-mismatch');
    const result = page.locator('.VPLocalSearchBox a[href*="outcomes.html#signature-mismatch"]');
    await result.first().waitFor();
    expect(await findings(page)).toEqual([]);
    await result.first().click();
    await page.waitForURL('**/outcomes.html#signature-mismatch');
    await page.locator('h2#signature-mismatch').waitFor();
    expect(problems).toEqual([]);
  });

  it('the dark theme stays when it was chosen, also on the next page', async () => {
    const { page } = await open('start.html', 1440);
    await page.locator('.VPNavBar').getByRole('switch').first().click();
    await page.locator('html.dark').waitFor({ state: 'attached' });
    await page.goto(site.url('outcomes.html'));
    await page.locator('html.dark').waitFor({ state: 'attached' });
  });

  it('the start page is light, apart from its pictures', async () => {
    const page = await chromium.page();
    const sizes: Promise<number>[] = [];
    const measure = (response: Response) => {
      if (response.request().resourceType() === 'image') return;
      sizes.push(response.body().then(({ length }) => length));
    };
    page.on('response', measure);
    await page.goto(site.url(''), { waitUntil: 'load' });
    await isReady(page);
    page.off('response', measure); // what comes while the page is closed has no body
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(3);
    expect(bytes).toBeLessThan(400_000); // before compression
  });

  it('a page without JavaScript has its text', async () => {
    const page = await chromium.page({ javaScriptEnabled: false });
    await page.goto(site.url('outcomes.html#handler-failed'));
    expect(await page.locator('h2#handler-failed + p').innerText()).toContain('500');
  });
});

it.each(Object.keys({ ...OUTCOMES, ...THROWN_ERRORS }))(
  'the link of log lines to %s leads to its section',
  (code) => {
    const url = new URL(docsUrl(`outcomes.md#${code}`));
    const page = read(url.href.slice(SITE.length).replace(url.hash, ''));
    expect(page).toContain(`<h2 id="${code}"`);
  },
);

it('programs find every page as Markdown', () => {
  expect(read('outcomes.html')).toContain(`type="text/markdown" href="${SITE}outcomes.md"`);
  const links = [...read('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(40);
  for (const link of links) {
    expect(link.startsWith(SITE)).toBe(true);
    expect(read(link.slice(SITE.length)).length).toBeGreaterThan(100);
  }
  expect(read('llms-full.txt')).toContain('# Exactly once');
  expect(read('start.md')).not.toContain('---\ndescription');
});
