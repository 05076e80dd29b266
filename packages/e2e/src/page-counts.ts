import { chromiumPath, launchChromium } from '@call-webhooks/testing/chromium';

/** The numbers that the inspector shows for its deliveries, by state, and of all of them. */
export type PageCounts = Readonly<Record<string, number>>;

/**
 * Opens a simulator's page in a real browser and reads its numbers.
 * @returns `undefined`, after a loud line, where chromium is missing
 * @throws Error where it is missing under `REQUIRE_SERVERS=1`
 */
export async function pageCounts(url: string): Promise<PageCounts | undefined> {
  const path = chromiumPath();
  if (path === undefined) {
    const missing = 'chromium is not installed: the counts of the page are not compared';
    if (process.env['REQUIRE_SERVERS'] === '1') throw new Error(missing);
    process.stderr.write(`\n!!! SKIPPED: ${missing}.\n\n`);
    return undefined;
  }
  const browser = await launchChromium(path);
  try {
    const page = await browser.newPage({ locale: 'en-GB' });
    await page.goto(url);
    await page.locator('body[data-ready]').waitFor();
    const counts: Record<string, number> = {};
    for (const shown of await page.locator('[data-count]').all())
      counts[(await shown.getAttribute('data-count')) ?? ''] = Number(
        (await shown.textContent())?.replaceAll(',', ''),
      );
    return counts;
  } finally {
    await browser.close();
  }
}
