import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { callCompleted } from '@call-webhooks/testing';
import { axeFindings } from '@call-webhooks/ui/test/axe';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openConsole, testReceivers } from './open-console.ts';

const WIDTHS = [1440, 1024, 900, 390, 320];
const LONG = 'call:' + 'averylongname'.repeat(8);

/** Each view with its details open. */
const PLACES: readonly (readonly [query: string, ready: string])[] = [
  ['', '[aria-label=Outcomes] .link'],
  ['?range=day', '.health'],
  ['?view=deliveries', '[aria-label=Deliveries] .link'],
  ['?view=deliveries&call=call-2', '.call > li'],
  ['?view=dead-letters', '[aria-label="Dead letters"] .link'],
  ['?view=reconcile', '.reasons'],
];

/** A dry run that found missed events, for every reason that there is. */
function dryRun(now: number) {
  const counts = { seen: 9, missed: 5, known: 3, inDeadLetters: 1, handled: 0, failed: 0 };
  const silence = {
    kind: 'silence',
    outcomes: [],
    from: now - 7_200_000,
    until: now - 3_600_000,
    missed: 1,
    text: `Other events arrived, but no \`${LONG}\` from <${String(now - 7_200_000)}> to <${String(now - 3_600_000)}>.`,
  };
  const run = {
    ...{ id: 'run', by: 'Ada', state: 'done', dryRun: true, savedAt: now },
    ...{ startedAt: now - 9_000, endedAt: now, since: now - 9_000_000, until: now - 600_000 },
    counts: { ...counts, ignored: 0, skipped: 0, stoppedEarly: false },
  };
  return {
    ...run,
    events: ['call-1', 'x'.repeat(120)].map((callId, index) => ({
      ...{ callId, eventName: 'call:completed', at: now, missed: index === 0 },
      ...(index > 0 ? { state: 'dead-lettered' } : { reason: 'silence' }),
    })),
    reasons: [
      { ...silence, wasRunning: true, failedBefore: 3 },
      { ...silence, from: null, wasRunning: false, failedBefore: 0 },
      {
        ...silence,
        kind: 'rejected',
        outcomes: ['signature-mismatch'],
        failedBefore: 0,
        wasRunning: null,
      },
      { ...silence, kind: 'single', failedBefore: 0, wasRunning: null },
      { ...silence, kind: 'unknown', failedBefore: 0, wasRunning: null },
    ],
  };
}

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
    await receiver.deliver({ eventName: 'call:started', callId: 'call-1', [LONG]: 1 });
    await receiver.deliver({ eventName: LONG, callId: 'x'.repeat(120) });
    receiver.tell({ broken: true });
    for (const callId of ['call-1', 'call-2']) await receiver.deliver(callCompleted({ callId }));
    await receiver.store.saveCursor?.('console/reconcile', JSON.stringify(dryRun(Date.now())));
    return receiver;
  }

  async function openDetail(page: Page): Promise<void> {
    const opener = page.locator('td a.link[id]').first();
    if ((await opener.count()) === 0) return;
    await opener.click();
    await page.locator('.detail .facts').waitFor();
  }

  /** Goes through each view, and calls this at each width. */
  async function look(page: Page, url: string, widths: number[], at: (where: string) => unknown) {
    for (const [query, ready] of PLACES) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${url}${query}`);
      await page.locator(ready).first().waitFor();
      await openDetail(page);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await at(`${query} at ${String(width)}`);
      }
    }
  }

  test('no findings of axe, in both themes, and no sideways overflow', async () => {
    const receiver = await withEverything();
    const page = await openConsole(chromium, receiver, '', { colorScheme: 'light' });
    await look(page, receiver.url, [1440, 1024, 390], async (where) => {
      expect([where, await axeFindings(page), await overflow(page)]).toEqual([where, [], []]);
    });
    await page.emulateMedia({ colorScheme: 'dark' });
    await look(page, receiver.url, [1440], async (where) => {
      expect([where, await axeFindings(page)]).toEqual([where, []]);
    });
  });

  test('with a detail open, badges, times and names stay in one piece', async () => {
    const receiver = await withEverything();
    const page = await openConsole(chromium, receiver);
    await look(page, receiver.url, [1440, 1024, 390], async (where) => {
      // More than one line: a word that is broken into pieces.
      const broken = await page.evaluate(`[...document.querySelectorAll(
        'td .badge, td time, td .code-name, th, td[data-column=Outcome] a, td[data-column=Attempt]')]
        .filter((one) => one.offsetParent !== null && one.getClientRects().length > 0)
        .filter((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          const tops = [...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 8));
          return Math.max(...tops) - Math.min(...tops) > 1;
        })
        .map((one) => one.textContent)`);
      expect([where, broken]).toEqual([where, []]);
    });
  });

  test.each([1440, 1024, 390])(
    'choosing another row keeps scroll and focus (%d px)',
    async (width) => {
      const receiver = await withEverything();
      for (let made = 0; made < 30; made++)
        await receiver.deliver(callCompleted({ callId: `more-${String(made)}` }));
      const page = await openConsole(chromium, receiver, '?view=dead-letters', {
        viewport: { width, height: 700 },
      });
      await page.getByText('32 dead letters waiting').waitFor();
      const openers = page.locator('a[id^=letter-]');
      await openers.nth(15).focus();
      await page.keyboard.press('Enter');
      const detail = page.getByRole('region', { name: 'Dead letter' });
      await detail.locator('.facts').waitFor();
      await page.locator('.detail h3:focus').waitFor();
      const scrolled = () => page.evaluate<number>('Math.round(scrollY)');
      const before = await scrolled();
      expect(before).toBeGreaterThan(200);
      const id = new URL(page.url()).searchParams.get('letter');
      // Behind a detail that covers the list, only the keyboard reaches it.
      await openers.nth(16).evaluate((link: { focus(options: object): void }) => {
        link.focus({ preventScroll: true });
      });
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.searchParams.get('letter') !== id);
      await detail.locator('.facts').waitFor();
      const next = new URL(page.url()).searchParams.get('letter') ?? '';
      await page.locator(`#letter-${next}:focus`).waitFor();
      expect(await scrolled()).toBe(before);
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });
      await page.locator(`#letter-${next}:focus`).waitFor();
    },
  );

  test('no sideways overflow, in the widest font either', async () => {
    const receiver = await withEverything();
    const page = await openConsole(chromium, receiver);
    await look(page, receiver.url, WIDTHS, async (where) => {
      for (const font of ['', "'DejaVu Serif'"]) {
        await page.evaluate(`document.documentElement.style.setProperty('--sans', "${font}")`);
        expect([where, font, await overflow(page)]).toEqual([where, font, []]);
      }
    });
  });

  test('at 1280 px, the tiles fill their rows, and what is searched and found is not cut', async () => {
    const receiver = await withEverything();
    await receiver.deliver(callCompleted({ callId: '6c0ffee0c0ffee0c0ffee0a1' }));
    const page = await openConsole(chromium, receiver, '', {
      viewport: { width: 1280, height: 800 },
    });
    await page.locator('.tile').nth(7).waitFor();
    const tops = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.tile')].map((one) => one.getBoundingClientRect().top)`,
    );
    expect([...new Set(tops)].map((top) => tops.filter((one) => one === top).length)).toEqual([
      4, 4,
    ]);
    await page.goto(`${receiver.url}?view=deliveries&call=6c0ffee0c0ffee0c0ffee0a1`);
    const id = page.locator('td code.id', { hasText: '6c0ffee' });
    await id.waitFor();
    const isCut = (one: { scrollWidth: number; clientWidth: number }) =>
      one.scrollWidth > one.clientWidth;
    expect(await id.evaluate(isCut)).toBe(false);
    await page.getByRole('button', { name: 'Clear' }).waitFor();
    const { width = 0 } = (await page.getByLabel('Search', { exact: true }).boundingBox()) ?? {};
    expect(width).toBeGreaterThanOrEqual(260);
  });

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
