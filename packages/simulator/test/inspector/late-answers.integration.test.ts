import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page, Route } from 'playwright-core';
import { openWithWorld, WORLD } from './world.ts';
import { testResources } from '../support/test-resources.ts';

/** Holds back what the page asks for, until it is let go. The newest route of a page counts. */
async function held(page: Page, path: RegExp) {
  const waiting: Route[] = [];
  await page.route(path, (route) => void waiting.push(route));
  return {
    async arrived(count: number) {
      for (let left = 400; waiting.length < count && left > 0; left--)
        await page.waitForTimeout(20);
      expect(waiting.length).toBeGreaterThanOrEqual(count);
    },
    /** Answers one of those that wait, as the world does. */
    letGo: (at: number) => waiting.splice(at, 1)[0]!.fallback(),
    count: () => waiting.length,
    end: () => page.unroute(path),
  };
}

describeInChromium('answers that the inspector gets late', (chromium) => {
  const open = testResources();
  const openWorld = () => openWithWorld(chromium, open);

  test('of two events, the one that was chosen last is shown, whichever comes first', async () => {
    const { page } = await openWorld();
    const answers = await held(page, /\/_sim\/events\/e\d+$/);
    const title = (id: string) => page.locator(`#detail-title[data-id=${id}]`);
    await page.locator('.event-row[data-id=e1]').click();
    await answers.arrived(1);
    await page.locator('.event-row[data-id=e2]').click();
    await answers.arrived(2);
    await answers.letGo(1);
    await title('e2').waitFor();
    await answers.letGo(0);
    await page.locator('.event-row[data-id=e10]').click();
    await answers.arrived(1);
    // The late answer about another event has changed nothing.
    expect(await title('e2').count()).toBe(1);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.locator('#detail').waitFor({ state: 'detached' });
    await answers.letGo(0);
    await answers.end();
    await page.locator('.event-row[data-id=e9]').click();
    await title('e9').waitFor();
  });

  test('what changes while the state is read is read afterwards, once', async () => {
    const { page, become, reads } = await openWorld();
    const answers = await held(page, /\/_sim\/state\?/);
    const told = become({ rules: [] });
    await answers.arrived(1);
    for (const section of ['Waiting 106', 'Failed 2', 'All 115'])
      await page.locator('#filters').getByRole('button', { name: section }).click();
    reads.length = 0;
    await answers.letGo(0);
    await told;
    await answers.arrived(1);
    await answers.letGo(0);
    await page.getByText('No rules yet').waitFor();
    await page.waitForTimeout(1_000);
    expect([reads.length, answers.count()]).toEqual([2, 0]);
  });

  test('a state that cannot be read is asked for again, and the page says so meanwhile', async () => {
    const { page, become } = await openWorld();
    const says = (words: string) =>
      page.locator('.connection').getByText(words, { exact: true }).waitFor();
    await says('Live');
    let failures = 2;
    await page.route(/\/_sim\/state\?/, (route) =>
      failures-- > 0 ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
    );
    await become({ rules: WORLD.rules.slice(0, 1) });
    await says('Connection lost, reconnecting …');
    await says('Live');
    expect(failures).toBeLessThan(0);
    expect(await page.locator('.card.rule').count()).toBe(1);
  });

  test('a search begins when the typing has paused, and once', async () => {
    const { page, reads } = await openWorld();
    await page.locator('#search').focus();
    reads.length = 0;
    await page.evaluate(`(() => {
      const input = document.getElementById('search');
      for (const text of ['i', 'id', 'ida', 'ida ']) {
        input.value = text;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }
    })()`);
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'ida');
    for (let left = 200; reads.length === 0 && left > 0; left--) await page.waitForTimeout(20);
    expect(reads).toEqual(['/state?q=ida&limit=200']);
  });
});
