import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { openConsole, testReceivers } from './open-console.ts';

/** Hides or shows the tab, as far as its page can tell. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${String(isHidden)} });
     document.dispatchEvent(new Event('visibilitychange'))`,
  );

describeInChromium('what the console reads again and again', (chromium) => {
  const start = testReceivers();

  test.each(['now', 'deliveries', 'dead-letters'])(
    'is not read while the tab of the view "%s" is hidden, and at once when it is shown',
    async (view) => {
      const receiver = await start();
      const page = await openConsole(chromium, receiver, `?view=${view}`);
      await page.clock.install();
      await page.reload();
      await page.locator('body[data-ready]').waitFor();
      let asked = 0;
      page.on('request', () => (asked += 1));
      const minute = async () => {
        asked = 0;
        for (let second = 0; second < 60; second += 5) {
          await page.clock.runFor(5_000);
          await page.request.get(receiver.url); // so long an answer takes
        }
        return asked;
      };
      expect(await minute()).toBeGreaterThan(2);
      await setHidden(page, true);
      await minute(); // in which a timer may fire that was set before
      expect(await minute()).toBe(0);
      await setHidden(page, false);
      await waitFor(() => asked > 0);
      expect(await minute()).toBeGreaterThan(2);
    },
  );
});
