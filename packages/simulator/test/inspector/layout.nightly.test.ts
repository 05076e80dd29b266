import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

const WIDTHS = [1280, 390, 320];

/** How wide the tabs are, the list that holds them, and the whole page. */
const tabs = (page: Page) =>
  page.evaluate<{ inside: number; outside: number; document: number }>(`(() => {
    const { scrollWidth, clientWidth } = document.getElementById('tabs');
    const { scrollWidth: whole } = document.documentElement;
    return { inside: scrollWidth, outside: clientWidth, document: whole };
  })()`);

describeInChromium('the layout of the inspector', (chromium) => {
  const open = testResources();

  /** Two paused rules, mails about them, calls, and a chaos mode that is on. */
  async function busySimulator() {
    const simulator = await open.simulator();
    const gone = await open.receiver(404);
    const receiver = await open.receiver(async (_received, response, nth) => {
      // Durations of one digit, and of three.
      if (nth % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 120));
      response.writeHead(nth % 3 === 0 ? 500 : 200).end();
    });
    for (const { url } of [gone, gone, receiver])
      simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    for (let started = 0; started < 12; started++) {
      simulator.calls.start();
      await simulator.events.settled();
    }
    simulator.chaos.set({ replay: 0.1 });
    return simulator;
  }

  test.each(WIDTHS)('every tab is in sight, with its number, at %d px', async (width) => {
    const simulator = await busySimulator();
    const { page, tab } = await openInspector(chromium, simulator, {
      viewport: { width, height: 800 },
    });
    await tab('Rules 3 (2 paused)'); // The words are in the name alone.
    await tab('Outbox 2');
    await tab('Chaos 1 on');
    const { inside, outside, document } = await tabs(page);
    expect({ inside, document }).toEqual({ inside: outside, document: width });
  });

  test('statuses stand below each other, however long an attempt took', async () => {
    const { page } = await openInspector(chromium, await busySimulator());
    await page
      .locator('.event-row .took', { hasText: /^\d\d\d ms$/ })
      .first()
      .waitFor();
    const ends = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.event-row .answer')].map((one) => one.getBoundingClientRect().right)`,
    );
    expect(ends.length).toBeGreaterThan(11);
    expect(Math.max(...ends) - Math.min(...ends)).toBeLessThan(1);
  });

  test.each([1440, 1024])(
    'the list stays where it is when another row is chosen, at %d px',
    async (width) => {
      const simulator = await busySimulator();
      for (let started = 0; started < 30; started++) simulator.calls.start();
      await simulator.events.settled();
      const viewport = { width, height: 800 };
      const { page } = await openInspector(chromium, simulator, { viewport });
      const row = (at: number) => page.locator('.event-row').nth(at);
      await row(24).click();
      await page.locator('.attempt details[open]').waitFor();
      const top = async (at: number) => Math.round((await row(at).boundingBox())?.y ?? -1);
      await row(25).scrollIntoViewIfNeeded();
      const before = await top(25);
      await row(25).click({ position: { x: 60, y: 12 } });
      await page.locator('.event-row[aria-current]').and(row(25)).waitFor();
      expect(await top(25)).toBe(before);
      expect(await page.evaluate('document.activeElement?.dataset.id')).toBe(
        await row(25).getAttribute('data-id'),
      );
    },
  );
});
