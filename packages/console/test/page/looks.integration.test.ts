import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { callCompleted, callStarted } from '@call-webhooks/testing';
import { axeFindings } from '@call-webhooks/contract-tests/axe';
import { describeInChromium } from '@call-webhooks/contract-tests/describe-in-chromium';
import { openConsole, testReceivers } from './open-console.ts';

const WIDTHS = [1440, 1024, 900, 390, 320];
/** Axe looks at every place at every width. */
const LONG_TEST_MS = 400_000;
const LONG = 'call:' + 'averylongname'.repeat(8);

/** Each view with its details open. */
const PLACES: readonly (readonly [query: string, ready: string])[] = [
  ['', '.health'],
  ['?range=day', '.health'],
  ['?view=deliveries', '[aria-label=Deliveries] .link'],
  ['?view=deliveries&call=call-2', '.call > li'],
  ['?view=dead-letters', '[aria-label="Dead letters"] .link'],
  ['?view=reconcile', '.run-now'],
];

/** What is wider than the page. */
const overflow = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > clientWidth + 0.5)
      .map((one) => one.tagName + '.' + one.getAttribute('class'));
  })()`);

describeInChromium('the looks of the console', (chromium) => {
  const start = testReceivers();

  async function withEverything() {
    const receiver = await start({
      service: { baseUrl: 'http://127.0.0.1:9', apiToken: 'a-token' },
    });
    await receiver.deliver(callStarted({ callId: 'call-1' }));
    await receiver.deliver({ eventName: LONG, callId: 'x'.repeat(120) });
    await receiver.tell({ broken: true });
    for (const callId of ['call-1', 'call-2']) await receiver.deliver(callCompleted({ callId }));
    return receiver;
  }

  async function openDetail(page: Page): Promise<void> {
    const opener = page.locator('td a.link[id]').first();
    if ((await opener.count()) === 0) return;
    await opener.click();
    await page.locator('.detail .facts').waitFor();
  }

  test.each(['light', 'dark'] as const)(
    '%s: no findings of axe, and no sideways overflow',
    async (colorScheme) => {
      const receiver = await withEverything();
      for (const [query, ready] of PLACES) {
        const page = await openConsole(chromium, receiver, query, { colorScheme });
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          await page.locator(ready).first().waitFor();
          if (width === WIDTHS[0]) await openDetail(page);
          const at = `${query} at ${String(width)}`;
          expect([at, await axeFindings(page), await overflow(page)]).toEqual([at, [], []]);
        }
        await page.close();
      }
    },
    LONG_TEST_MS,
  );

  test.each(['DejaVu Sans', 'DejaVu Serif', 'monospace'])(
    '%s: no sideways overflow',
    async (font) => {
      const receiver = await withEverything();
      for (const [query, ready] of PLACES) {
        const page = await openConsole(chromium, receiver, query);
        await page.locator(ready).first().waitFor();
        await page.evaluate(
          `document.documentElement.style.setProperty('--sans', ${JSON.stringify(`'${font}'`)})`,
        );
        await openDetail(page);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          const at = `${query} at ${String(width)}`;
          expect([at, await overflow(page)]).toEqual([at, []]);
        }
        await page.close();
      }
    },
    LONG_TEST_MS,
  );

  test('with the keyboard alone: skip, change views, open, close, redrive and remove', async () => {
    const receiver = await withEverything();
    const page = await openConsole(chromium, receiver);
    const focus = page.locator(':focus');
    const tabTo = async (name: string) => {
      const passed: string[] = [];
      while (passed.length < 80) {
        await page.keyboard.press('Tab');
        const label = await page.evaluate<string>(`(() => {
          const { activeElement } = document;
          return activeElement.getAttribute('aria-label') ?? activeElement.textContent.trim();
        })()`);
        if (label === name) return;
        passed.push(label.slice(0, 40));
      }
      throw new Error(`Tab does not reach ${name}: ${passed.join(', ')}`);
    };
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('#view:focus').waitFor();
    await page.locator('body').press('Shift+Tab');
    await page.getByRole('link', { name: 'Deliveries', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#view:focus').waitFor();
    const opener = page.getByRole('link', { name: 'dead-lettered' });
    await opener.first().waitFor();
    await tabTo('dead-lettered');
    await page.keyboard.press('Enter');
    await page.locator('.detail h3:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.detail').waitFor({ state: 'detached' });
    await opener.and(focus).waitFor();

    await page.goto(`${receiver.url}?view=dead-letters`);
    await page.getByText('2 dead letters waiting').waitFor();
    await tabTo('Select call:completed of call-1');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Redrive 1 selected' }).waitFor();
    await tabTo('call:completed');
    await page.keyboard.press('Enter');
    await page.locator('.detail h3:focus').waitFor();
    await tabTo('Remove …');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Remove');
    await page.keyboard.press('Enter');
    await page.getByText('1 dead letter waiting').waitFor();
  });

  test('nothing moves for those who asked for less motion, and the theme can be chosen', async () => {
    const receiver = await withEverything();
    const page = await openConsole(chromium, receiver, '?view=dead-letters', {
      reducedMotion: 'reduce',
      colorScheme: 'light',
    });
    await page.getByText('2 dead letters waiting').waitFor();
    const moving = await page.evaluate(`[...document.querySelectorAll('*')].filter((one) => {
      const { transitionDuration, animationName } = getComputedStyle(one);
      return transitionDuration !== '0s' || animationName !== 'none';
    }).map((one) => one.outerHTML)`);
    expect(moving).toEqual([]);
    const toggle = page.getByRole('button', { name: 'Change between light and dark' });
    await toggle.click(); // light
    await toggle.click(); // dark
    const background = () =>
      page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(await background()).toBe('rgb(14, 16, 20)');
    await page.reload();
    await page.locator('body[data-ready]').waitFor();
    expect(await background()).toBe('rgb(14, 16, 20)');
  });
});
