import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { drawn, held } from './held-requests.ts';
import { openWithWorld } from './world.ts';
import { testResources } from '../support/test-resources.ts';

/** Everything but what the page reads by itself. */
const ASKED = /\/_sim\/(?!state|stream|outcomes|events\/e\d+$)/;
const UNREACHABLE = 'The simulator cannot be reached. Is it still running?';
const ANSWER = { _id: 'e2', number: 2, resent: 2, a1: { current: 'whsec_a1', rotations: 0 } };

/** A button that asks for something, in the tab where it is, and how many requests that makes. */
const BUTTONS: readonly (readonly [tab: string, selector: string, requests?: number])[] = [
  ...['Next', '+6 min', 'Until idle'].map(
    (name) => ['Rules', `#clock button:has-text("${name}")`] as const,
  ),
  ['Rules', '#paused button', 3],
  ['Rules', '#filters button:has-text("Resend failed")'],
  ['Rules', '.card.rule:first-child button:has-text("Pause")'],
  ['Rules', '.card.rule:nth-child(2) button:has-text("Resume")'],
  ['Rules', '.card.rule:first-child button[aria-label="Show the secret"]'],
  ['Rules', '.card.rule:first-child button[aria-label="Copy secret"]'],
  ['Calls', '#panel-calls li:first-child .row-side button'],
  ['Chaos', '#panel-chaos button:has-text("All at 15%")'],
  ['Chaos', '#panel-chaos button:has-text("All off")'],
  ['Rules', '#detail button:has-text("Resend")'],
];

describeInChromium('each request of the inspector', (chromium) => {
  const open = testResources();

  async function openWorld() {
    const { page, tab } = await openWithWorld(chromium, open, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.locator('.event-row[data-id=e10]').click();
    await page.locator('#detail-title[data-id=e10]').waitFor();
    const requests = await held(page, ASKED);
    return { page, tab, requests };
  }

  const alerts = (page: Page) => page.locator('#alerts .notice p').allTextContents();
  async function closeAlert(page: Page, message: string) {
    const alert = page.locator('#alerts .notice', { hasText: message });
    await alert.waitFor();
    expect(await alerts(page)).toEqual([message]);
    await alert.getByRole('button', { name: 'Close this message' }).click();
    await alert.waitFor({ state: 'detached' });
  }

  test('of a button: it is busy meanwhile, asks once, says what failed, and can be used again', async () => {
    const { page, tab, requests } = await openWorld();
    for (const [section, selector, count = 1] of BUTTONS) {
      await tab(section);
      const one = page.locator(selector).first();
      const isIdle = page.locator('[aria-busy]').first();
      const before = requests.asked();
      const pressed = async () => {
        await one.click();
        await requests.arrived(count);
        await one.and(page.locator('[aria-busy=true]')).waitFor();
        expect(await one.isEnabled()).toBe(true);
      };
      await pressed();
      for (let again = 0; again < 2; again++) await one.click();
      await drawn(page);
      expect([selector, requests.asked() - before]).toEqual([selector, count]);
      for (let left = count; left > 0; left--) await requests.refuse(`Not ${section}.`);
      await closeAlert(page, `Not ${section}.`);
      await isIdle.waitFor({ state: 'detached' });
      await pressed();
      for (let left = count; left > 0; left--) await requests.lose();
      await closeAlert(page, UNREACHABLE);
      await isIdle.waitFor({ state: 'detached' });
      await pressed();
      for (let left = count; left > 0; left--) await requests.answer(ANSWER);
      await isIdle.waitFor({ state: 'detached' });
      expect([selector, await alerts(page)]).toEqual([selector, []]);
      expect(requests.asked() - before).toBe(3 * count);
    }
  });

  test('of a form: it stays open until it is done, says what failed, and can be sent again', async () => {
    const { page, tab, requests } = await openWorld();
    const dialog = page.getByRole('dialog');
    const cancel = dialog.getByRole('button', { name: 'Cancel' });
    const card = '.card.rule:nth-child(2)';
    for (const [opener, title, go] of [
      ['#place-call', 'Place a call', 'Place'],
      ['#reset', 'Reset the simulator?', 'Reset'],
      ['#detail button:has-text("Edit")', 'Edit and resend', 'Resend'],
      [`${card} button:has-text("Add URL")`, 'Add a URL', 'Add'],
      [`${card} button:has-text("Edit URL")`, 'Edit the action', 'Save'],
      [`${card} button:has-text("Remove rule")`, 'Remove the rule?', 'Remove'],
      [`${card} button:has-text("Remove URL")`, 'Remove the action?', 'Remove'],
      [`${card} button[aria-label="Rotate the secret"]`, 'Rotate the secret?', 'Rotate'],
    ] as const) {
      if (title === 'Edit and resend') {
        await page.locator('.event-row[data-id=e10]').click();
        await page.locator('#detail-title[data-id=e10]').waitFor();
      }
      await tab('Rules');
      const opened = page.locator(opener).first();
      await opened.click();
      await page.getByRole('dialog', { name: title }).waitFor();
      if (title === 'Add a URL') await dialog.getByLabel('URL').fill('3000/hook');
      const submit = dialog.getByRole('button', { name: go, exact: true });
      const before = requests.asked();
      const send = async () => {
        await submit.click();
        await requests.arrived(1);
        await submit.and(page.locator('[aria-busy=true]')).waitFor();
        expect(await cancel.isDisabled()).toBe(true);
      };
      const failed = async (message: string) => {
        await dialog.locator('.form-error').getByText(message, { exact: true }).waitFor();
        await dialog.locator('[aria-busy]').waitFor({ state: 'detached' });
        expect(await cancel.isEnabled()).toBe(true);
      };
      await send();
      // Nothing of this closes it, or sends it a second time.
      await submit.click();
      await page.keyboard.press('Escape');
      await page.mouse.click(2, 2);
      await drawn(page);
      expect([title, await dialog.count(), requests.asked() - before]).toEqual([title, 1, 1]);
      await requests.refuse(`Not ${title}`);
      await failed(`Not ${title}`);
      await send();
      expect(await dialog.locator('.form-error').textContent()).toBe('');
      await requests.lose();
      await failed(UNREACHABLE);
      await send();
      await requests.answer(ANSWER);
      await dialog.waitFor({ state: 'detached' });
      expect([title, await alerts(page), requests.asked() - before]).toEqual([title, [], 3]);
    }
  });

  test('of a form: until it is sent, Escape, Cancel and a click beside it close it, and ask for nothing', async () => {
    const { page, requests } = await openWorld();
    const dialog = page.getByRole('dialog');
    const place = page.locator('#place-call');
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Cancel' }).click(),
      () => page.mouse.click(2, 2),
    ]) {
      await place.click();
      await dialog.getByLabel('Name of the person').fill('Bo');
      await close();
      await dialog.waitFor({ state: 'detached' });
      await page.locator('#place-call:focus').waitFor();
    }
    await place.click();
    expect(await dialog.getByLabel('Name of the person').inputValue()).toBe('');
    expect(requests.asked()).toBe(0);
  });

  test('of a form: a field beyond its limit sends nothing, one at its limit does', async () => {
    const { page, requests } = await openWorld();
    const dialog = page.getByRole('dialog');
    const add = '.card.rule:nth-child(2) button:has-text("Add URL")';
    for (const [opener, label, go, given] of [
      [
        ...(['#place-call', 'Duration in seconds', 'Place'] as const),
        { '': false, '-1': false, '0': true, '1.5': false, '86400': true, '86401': false },
      ],
      [
        ...(['#place-call', 'Number of calls', 'Place'] as const),
        { '': false, '0': false, '1': true, '200': true, '201': false },
      ],
      [add, 'URL', 'Add', { '': false, x: true }],
      ['#detail button:has-text("Edit")', 'Body', 'Resend', { '': false, '1': true }],
    ] as const)
      for (const [text, isSent] of Object.entries(given)) {
        await page.locator(opener).first().click();
        await dialog.getByLabel(new RegExp(`^${label}`)).fill(text);
        const before = requests.asked();
        await dialog.getByRole('button', { name: go, exact: true }).click();
        if (isSent) {
          await requests.arrived(1);
          await requests.refuse('Not now.');
          await dialog.getByText('Not now.').waitFor();
        } else await drawn(page);
        expect([label, text, requests.asked() > before]).toEqual([label, text, isSent]);
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        await dialog.waitFor({ state: 'detached' });
      }
    await page.locator('#add-rules summary').first().click();
    await page.locator('#add-rules summary').nth(1).click();
    const form = page.locator('#add-rules form');
    for (const [url, secret, isSent] of [
      ['', '', false],
      ['3000', 'mine', false],
      ['3000', 'whsec_', false],
      ['3000', 'whsec_a', true],
      ['3000', '', true],
    ] as const) {
      await form.getByLabel('URL of your receiver').fill(url);
      await form.getByLabel('Signing secret').fill(secret);
      const before = requests.asked();
      await form.getByRole('button', { name: 'Forward' }).click();
      if (isSent) {
        await requests.arrived(1);
        await requests.refuse('Not now.');
        await form.getByText('Not now.').waitFor();
      } else await drawn(page);
      expect([url, secret, requests.asked() > before]).toEqual([url, secret, isSent]);
    }
  });

  test('of several calls: the first that is refused ends them, and the form says why', async () => {
    const { page, requests } = await openWorld();
    await page.locator('#place-call').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Number of calls').fill('3');
    await dialog.getByRole('button', { name: 'Place' }).click();
    await requests.arrived(1);
    await requests.answer({});
    await requests.arrived(1);
    await requests.refuse('No user has this id.');
    await dialog.locator('.form-error').getByText('No user has this id.').waitFor();
    await drawn(page);
    expect([requests.asked(), requests.count()]).toEqual([2, 0]);
  });

  test('of the form in the page: what failed stands until it is sent again', async () => {
    const { page, requests } = await openWorld();
    await page.locator('#add-rules summary').first().click();
    const form = page.locator('#add-rules form');
    const error = form.locator('.form-error');
    await form.getByLabel('URL of your receiver').fill('3000/hook');
    const send = async () => {
      await form.getByRole('button', { name: 'Forward' }).click();
      await requests.arrived(1);
    };
    await send();
    await requests.refuse('Not this one.');
    await error.getByText('Not this one.', { exact: true }).waitFor();
    await send();
    await error.getByText('Not this one.').waitFor({ state: 'detached' });
    await requests.lose();
    await error.getByText(UNREACHABLE, { exact: true }).waitFor();
    expect(await form.getByLabel('URL of your receiver').inputValue()).toBe('3000/hook');
    await send();
    await requests.answer([]);
    await page.getByText('Forwarding all three events.').waitFor();
    expect(await error.textContent()).toBe('');
  });

  test('what the browser does not copy is not said to be copied', async () => {
    const { page, requests } = await openWorld();
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: () => Promise.reject(new Error('not allowed')) },
    })`);
    for (const name of ['Copy curl command', 'Copy request body', 'Copy secret']) {
      await page.getByRole('button', { name, exact: true }).first().click();
      if (name === 'Copy secret') {
        await requests.arrived(1);
        await requests.answer(ANSWER);
      }
      await closeAlert(page, 'The page failed: Error: not allowed');
      expect(await page.locator('#notices .notice').count()).toBe(0);
    }
  });

  test('what succeeded is said for five seconds, and what failed until somebody closes it', async () => {
    const { page, requests } = await openWorld();
    await page.clock.install();
    await page.reload();
    await page.locator('#detail-title[data-id=e10]').waitFor();
    const resend = page.locator('#filters').getByRole('button', { name: 'Resend failed' });
    await resend.click();
    await requests.arrived(1);
    await requests.refuse('Not now.');
    await page.locator('#alerts').getByText('Not now.').waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await resend.click();
    await requests.arrived(1);
    await requests.answer(ANSWER);
    const done = page.locator('#notices').getByText('2 events sent again.');
    await done.waitFor();
    await page.clock.runFor(4_999);
    expect(await done.count()).toBe(1);
    await page.clock.runFor(100);
    await done.waitFor({ state: 'detached' });
    await page.clock.runFor(600_000);
    await closeAlert(page, 'Not now.');
  });

  test('of a key: what failed is said', async () => {
    const { page, requests } = await openWorld();
    for (const key of ['n', 'a', 'i', 'r']) {
      await page.keyboard.press(key);
      await requests.arrived(1);
      await requests.refuse(`Not ${key}.`);
      await closeAlert(page, `Not ${key}.`);
    }
  });

  test('of the chaos: what failed is said, and the switch and the slider show what the simulator has', async () => {
    const { page, tab, requests } = await openWorld();
    await tab('Chaos');
    const row = (mode: string) => page.locator(`#panel-chaos [data-mode=${mode}]`);
    const shows = async (mode: string, on: boolean, percent: string) => {
      await row(mode).getByRole('switch', { checked: on }).waitFor();
      await row(mode).locator('output').getByText(percent, { exact: true }).waitFor({
        state: 'attached',
      });
    };
    for (const [mode, on, percent] of [
      ['duplicate', false, '0%'],
      ['slowBody', true, '100%'],
    ] as const) {
      await shows(mode, on, percent);
      await row(mode).locator('label').click();
      await requests.arrived(1);
      await requests.refuse('Not this fault.');
      await closeAlert(page, 'Not this fault.');
      await shows(mode, on, percent);
    }
    await row('reorder').locator('input[type=range]').fill('80');
    await shows('reorder', true, '80%');
    await requests.arrived(1);
    await requests.lose();
    await closeAlert(page, UNREACHABLE);
    await shows('reorder', true, '10%');
  });
});
