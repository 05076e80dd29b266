import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

const focused = (page: Page) => page.locator(':focus');

/** Luminance of a CSS colour, 0 to 255, as the page computes it. */
const lightness = (page: Page, property: string): Promise<number> =>
  page.evaluate(`(() => {
    const [r, g, b] = getComputedStyle(document.body)['${property}'].match(/[\\d.]+/g).map(Number);
    return 0.2 * r + 0.7 * g + 0.1 * b;
  })()`);

describeInChromium('the inspector without a mouse, and in both themes', (chromium) => {
  const open = testResources();

  async function withEvents() {
    const simulator = await open.simulator();
    const receiver = await open.receiver((_received, response, nth) => {
      response.writeHead(nth === 2 ? 500 : 200).end();
    });
    simulator.rules.forwardTo(receiver.url);
    simulator.calls.place({ calledName: 'Ida Holm' });
    await simulator.clock.advance('1m');
    return { simulator, receiver };
  }

  test('keys place a call, go through the events, resend, and turn the clock', async () => {
    const { simulator } = await withEvents();
    const { page, count } = await openInspector(chromium, simulator);
    await count('all', 3);
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Advance the clock by six minutes').waitFor();
    await page.keyboard.press('c'); // not while a dialog is open
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    // The browser moves the focus back with the next frame. A key that is pressed before it is lost.
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );

    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Place a call' });
    await dialog.waitFor();
    await page.keyboard.type('+1555cjk'); // typing is no shortcut
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await count('all', 4);
    expect(simulator.calls.list()[1]).toMatchObject({ calledNumber: '+1555cjk' });

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    const third = simulator.events.list().at(-2)!;
    await page
      .locator('#detail')
      .getByRole('heading', { name: `#${String(third.number)}` })
      .waitFor();
    expect(await focused(page).getAttribute('data-id')).toBe(third._id);
    await page.keyboard.press('Enter');
    await page.locator('#detail h2:focus').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page).textContent()).toBe('Resend');
    await page.keyboard.press('r');
    await count('all', 5);
    await page.keyboard.press('Escape');
    await page.locator('#detail').waitFor({ state: 'hidden' });

    await count('waiting', 1);
    await page.keyboard.press('n');
    await page.keyboard.press('i');
    await count('waiting', 0);
    expect(simulator.clock.nextDueAt()).toBeUndefined();
    await page.keyboard.press('5');
    expect(await focused(page).textContent()).toContain('Chaos');
    await page.keyboard.press('ArrowLeft');
    await page.locator('#panel-outbox').waitFor();
    await page.keyboard.press('5');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // All at 15%
    await page.getByText('15%', { exact: true }).first().waitFor();
    expect(simulator.chaos.get()).toMatchObject({ replay: 0.15 });
  });

  test('j and k begin at the newest event, and stay at the ends of the list', async () => {
    const { simulator } = await withEvents();
    const { page, count } = await openInspector(chromium, simulator);
    await count('all', 3);
    const chosen = page.locator('.event-row[aria-current=true] .number');
    for (const [key, expected] of [
      ['k', '#3'],
      ['k', '#3'],
      ['j', '#2'],
      ['j', '#1'],
      ['j', '#1'],
      ['Escape', undefined],
      ['j', '#3'],
      ['Escape', undefined],
    ] as const) {
      await page.keyboard.press(key);
      if (expected === undefined) await chosen.waitFor({ state: 'detached' });
      else await chosen.getByText(expected, { exact: true }).waitFor();
    }
    await page.locator('#detail').waitFor({ state: 'detached' });
  });

  test('? lists the keys', async () => {
    const { page } = await openInspector(chromium, await open.simulator());
    await page.keyboard.press('?');
    await page.locator('.shortcuts').waitFor();
    const keys = 'c j k Enter r Esc n a i / 1 2 3 4 5 t ?'.split(' ');
    expect(await page.locator('.shortcuts kbd').allTextContents()).toEqual(keys);
  });

  test('a real clock can be turned ahead too: a retry comes at once', async () => {
    const simulator = await open.simulator({ clock: 'real' });
    const receiver = await open.receiver((_received, response, nth) => {
      response.writeHead(nth === 1 ? 500 : 200).end();
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    simulator.calls.start();
    const { page, count } = await openInspector(chromium, simulator);
    await count('waiting', 1);
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await count('acknowledged', 1);
    const before = simulator.clock.now();
    const turned = page.waitForResponse(/clock\/advance/);
    await page.keyboard.press('a');
    await turned;
    expect(simulator.clock.now() - before).toBeGreaterThanOrEqual(360_000);
  });

  test('everything that can be used has a name, and shows where the focus is', async () => {
    const { simulator } = await withEvents();
    const { page } = await openInspector(chromium, simulator);
    await page.locator('.event-row').first().click();
    await page.locator('.attempt details[open]').waitFor();
    const nameless =
      await page.evaluate(`[...document.querySelectorAll('button, input, select, summary, [role=tab]')]
      .filter((one) => one.checkVisibility() && !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length)
      .map((one) => one.outerHTML)`);
    expect(nameless).toEqual([]);
    expect(await page.getByRole('status').count()).toBeGreaterThan(2);
    await page.locator('body').press('Tab');
    for (let step = 0; step < 25; step++) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate(
        `getComputedStyle(document.activeElement).outlineStyle + document.activeElement.tagName`,
      );
      expect(outline).toMatch(/^(?:solid|auto|noneBODY)/);
    }
  });

  test.each(['light', 'dark'] as const)(
    '%s, as the system has it, and the other by choice',
    async (colorScheme) => {
      const { simulator } = await withEvents();
      const { page } = await openInspector(chromium, simulator, { colorScheme });
      const dark = async () =>
        (await lightness(page, 'backgroundColor')) < 60 && (await lightness(page, 'color')) > 180;
      const light = async () =>
        (await lightness(page, 'backgroundColor')) > 200 && (await lightness(page, 'color')) < 60;
      const [own, other] = colorScheme === 'dark' ? [dark, light] : [light, dark];
      expect(await own()).toBe(true);
      const toggle = page.getByRole('button', { name: 'Change between light and dark' });
      await toggle.click(); // light
      if (colorScheme === 'light') await toggle.click(); // dark
      expect(await other()).toBe(true);
      await page.reload();
      await page.locator('body[data-ready]').waitFor();
      expect(await other()).toBe(true);
    },
  );

  test('a page of 400 pixels needs no sideways scrolling, and reaches every part', async () => {
    const { simulator } = await withEvents();
    const { page, tab } = await openInspector(chromium, simulator, {
      viewport: { width: 400, height: 800 },
    });
    const wide = () => page.evaluate('document.documentElement.scrollWidth');
    for (const name of ['Rules', 'Calls', 'Outbox', 'Chaos', 'Events']) {
      await tab(name);
      expect([name, await wide()]).toEqual([name, 400]);
    }
    await page.locator('.event-row').first().click();
    await page.locator('.attempt details[open]').waitFor();
    expect(await wide()).toBe(400);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.locator('.event-row').first().waitFor();
  });
});
