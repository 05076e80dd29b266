import { chromiumPath, launchChromium } from '@call-webhooks/contract-tests/chromium';
import type { Browser } from 'playwright-core';

/** The numbers of deliveries that the inspector shows, by state and in total. */
export type PageCounts = Readonly<Record<string, number>>;

/** Reads the numbers on inspector pages, in one browser that is started on first use. */
export interface PageCounter {
  /**
   * Opens a simulator's inspector and reads its numbers.
   * @returns `undefined`, after a warning, when Chromium is missing
   * @throws Error when it is missing and `REQUIRE_SERVERS=1`
   */
  counts(url: string): Promise<PageCounts | undefined>;
  close(): Promise<void>;
}

export function createPageCounter(): PageCounter {
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
