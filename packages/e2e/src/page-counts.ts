import { chromiumPath, launchChromium } from '@call-webhooks/contract-tests/chromium';
import type { Browser } from 'playwright-core';

/** The numbers that the inspector shows for its deliveries, by state, and of all of them. */
export type PageCounts = Readonly<Record<string, number>>;

/** Reads the numbers of simulators' pages in one real browser, started when it is first needed. */
export interface PageCounter {
  /**
   * Opens a simulator's page and reads its numbers.
   * @returns `undefined`, after a loud line, where chromium is missing
   * @throws Error where it is missing under `REQUIRE_SERVERS=1`
   */
  counts(url: string): Promise<PageCounts | undefined>;
  close(): Promise<void>;
}

export function pageCounter(): PageCounter {
  let browser: Promise<Browser> | undefined;
  return {
    async counts(url) {
      const path = chromiumPath();
      if (path === undefined) {
        const missing = 'chromium is not installed: the counts of the page are not compared';
        if (process.env['REQUIRE_SERVERS'] === '1') throw new Error(missing);
        process.stderr.write(`\n!!! SKIPPED: ${missing}.\n\n`);
        return undefined;
      }
      browser ??= launchChromium(path);
      const context = await (await browser).newContext({ locale: 'en-GB' });
      try {
        const page = await context.newPage();
        await page.goto(url);
        await page.locator('body[data-ready]').waitFor();
        const counts: Record<string, number> = {};
        for (const shown of await page.locator('[data-count]').all())
          counts[(await shown.getAttribute('data-count')) ?? ''] = Number(
            (await shown.textContent())?.replaceAll(',', ''),
          );
        return counts;
      } finally {
        await context.close();
      }
    },
    async close() {
      await (await browser)?.close();
    },
  };
}
