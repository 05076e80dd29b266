import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import type { Page } from 'playwright-core';
import { drawn, held } from './held-requests.ts';
import { openInspector } from './open-inspector.ts';
import { event, openWithWorld, waiting, WORLD } from './world.ts';
import { testResources } from '../support/test-resources.ts';

const [R1] = WORLD.rules;
/** The world, in which something has happened to one of its events. */
const changed = (id: string, more: object) => ({
  events: WORLD.events.map((one) => (one._id === id ? { ...one, ...more } : one)),
});

async function choose(page: Page, id: string) {
  await page.locator(`.event-row[data-id=${id}]`).click();
  await page.locator(`#detail-title[data-id=${id}]`).waitFor();
}

describeInChromium('what changes in the simulator leaves alone what is open', (chromium) => {
  const open = testResources();
  const openWorld = () => openWithWorld(chromium, open);

  test('the focus stays where it is, and comes to the title of an event once', async () => {
    const { page, become } = await openWorld();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('#detail-title[data-id=e15]:focus').waitFor();
    await page.keyboard.press('/');
    await page.locator('#search:focus').waitFor();
    await become(changed('e15', { number: 99 }));
    await page.locator('#detail').getByText('#99').waitFor();
    await drawn(page);
    expect(await page.locator(':focus').getAttribute('id')).toBe('search');
    await page.keyboard.press('Tab');
    await become(changed('e15', { number: 98 }));
    await page.locator('#detail').getByText('#98').waitFor();
    expect(await page.locator(':focus').getAttribute('id')).not.toBe('detail-title');
  });

  test('what is typed stays, in a form and in the search', async () => {
    const { page, become } = await openWorld();
    await page.locator('.card.rule').nth(1).getByRole('button', { name: 'Add URL' }).click();
    const url = page.getByRole('dialog').getByLabel('URL');
    await url.fill('3000/ho');
    await become({ rules: [R1!] });
    await page.locator('.card.rule').nth(1).waitFor({ state: 'detached' });
    expect(await url.inputValue()).toBe('3000/ho');
    expect(await page.locator(':focus').getAttribute('name')).toBe('url');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const answers = await held(page, /\/_sim\/state\?q=/);
    const search = page.locator('#search');
    await search.fill('ida');
    await answers.arrived(1);
    await search.fill('ida h');
    await answers.letGo();
    await drawn(page);
    expect(await search.inputValue()).toBe('ida h');
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'ida h');
    await answers.end();
  });

  test('attempts stay folded as they were left, and those of another event begin anew', async () => {
    const { page, become } = await openWorld();
    const unfolded = () =>
      page.locator('#detail .attempt details[open] .attempt-name').allTextContents();
    const toggle = (name: string) =>
      page.locator('#detail').getByText(name, { exact: true }).click();
    await choose(page, 'e2');
    expect(await unfolded()).toEqual(['Attempt 3']);
    await toggle('Attempt 3');
    await toggle('Attempt 1');
    const raw = page.locator('#detail').getByRole('button', { name: 'Raw' });
    await raw.click();
    await raw.and(page.locator('[aria-pressed=true]')).waitFor();
    await become(changed('e2', { number: 99 }));
    await page.locator('#detail').getByText('#99').waitFor();
    expect(await unfolded()).toEqual(['Attempt 1']);
    expect(await raw.getAttribute('aria-pressed')).toBe('true');
    await choose(page, 'e11');
    expect(await unfolded()).toEqual(['Attempt 2']);
    expect(await raw.getAttribute('aria-pressed')).toBe('false');
    await choose(page, 'e15');
    expect(await unfolded()).toEqual(['Attempt 14']);
    await choose(page, 'e2');
    expect(await unfolded()).toEqual(['Attempt 3']);
  });

  test('a slider that moves says where it is, and what changes elsewhere does not take it back', async () => {
    const { page, tab, become } = await openWorld();
    await tab('Chaos');
    const row = page.locator('#panel-chaos [data-mode=reorder]');
    await row.locator('output').getByText('10%', { exact: true }).waitFor();
    await row.locator('input[type=range]').evaluate((slider) => {
      const input = slider as unknown as { value: string; dispatchEvent(event: unknown): void };
      input.value = '60';
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await row.locator('output').getByText('60%', { exact: true }).waitFor();
    await become({ rules: [R1!], chaos: { ...WORLD.chaos, replay: 0.5 } });
    await page
      .locator('#panel-chaos [data-mode=replay] output')
      .getByText('50%', { exact: true })
      .waitFor();
    expect(await row.locator('output').textContent()).toBe('60%');
    expect(await row.locator('input[type=range]').inputValue()).toBe('60');
  });

  test('a secret that is shown stays, and so does the tab', async () => {
    const { page, tab, become } = await openWorld();
    await page.route('**/secrets', (route) =>
      route.fulfill({ json: { a1: { current: 'whsec_a1', rotations: 0 } } }),
    );
    const card = page.locator('.card.rule').first();
    await card.getByRole('button', { name: 'Show the secret' }).click();
    await card.getByText('whsec_a1').waitFor();
    await become({ rules: [{ ...R1!, name: 'Renamed' }] });
    await card.getByText('Renamed').waitFor();
    expect(await card.locator('.secret').textContent()).toBe('whsec_a1');
    await tab('Outbox');
    await become({ rules: [{ ...R1!, name: 'Again' }] });
    await card.getByText('Again').waitFor({ state: 'attached' });
    await page.locator('#tab-outbox[aria-selected=true]').waitFor();
  });
});

describeInChromium('the inspector reads what it shows', (chromium) => {
  const open = testResources();

  test('of an event that is not in the list, with each change', async () => {
    const { page, become } = await openWithWorld(chromium, open);
    let shown = event(99, waiting(60));
    await page.route(/\/_sim\/events\/e99$/, (route) =>
      route.fulfill({ json: { ...shown, body: '{}' } }),
    );
    await page.goto(`${page.url()}?event=e99`);
    await page.locator('#detail .story').getByText('Waiting', { exact: true }).waitFor();
    shown = event(99, { state: 'held' });
    await become({});
    await page.locator('#detail .story').getByText('Held', { exact: true }).waitFor();
  });

  test('an event whose details cannot be read says so, and is shown with its next change', async () => {
    const { page, become } = await openWithWorld(chromium, open);
    await page.route(/\/_sim\/events\/e1$/, (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'A bug.' } } }),
    );
    await page.locator('.event-row[data-id=e1]').click();
    await page.locator('#alerts').getByText('A bug.', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?event=e1');
    await page.locator('#detail').waitFor({ state: 'hidden' });
    await page.unroute(/\/_sim\/events\/e1$/);
    await become(changed('e1', { number: 99 }));
    await page.locator('#detail-title[data-id=e1]').waitFor();
  });

  test.each(['state?limit=200', 'outcomes'])(
    'although the first request for %s fails',
    async (path) => {
      const simulator = await open.simulator();
      const { page } = await openInspector(chromium, simulator);
      let failures = 1;
      await page.route(`**/_sim/${path.replace('?', '\\?')}`, (route) =>
        failures-- > 0 ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
      );
      await page.reload();
      await page.locator('body[data-ready]').waitFor();
      await page.locator('.connection').getByText('Live', { exact: true }).waitFor();
      expect(failures).toBeLessThan(0);
    },
  );
});

describeInChromium('a page that is narrow, or becomes so', (chromium) => {
  const open = testResources();

  test('shows one part at a time, and the events of what was chosen', async () => {
    const { page, tab, become } = await openWithWorld(chromium, open, {
      viewport: { width: 800, height: 700 },
    });
    const current = (name: string) =>
      page.getByRole('tab', { name, selected: true, exact: true }).waitFor();
    const sees = async (part: 'events' | 'calls' | 'rules') => {
      for (const one of ['events', 'calls', 'rules'])
        await page.locator(`#panel-${one}`).waitFor({ state: one === part ? 'visible' : 'hidden' });
    };
    await current('Events 1,217');
    await sees('events');
    await become({ events: WORLD.events.slice(0, 2) });
    await page.locator('.event-row').nth(2).waitFor({ state: 'detached' });
    await current('Events 1,217');
    await tab('Calls');
    await sees('calls');
    await page.locator('#panel-calls').getByRole('button', { name: 'Ola Berg' }).click();
    await current('Events 1,217');
    await sees('events');
    expect(new URL(page.url()).search).toBe('?callId=c2');
    // A wide page always shows the events, and beside them another part.
    await page.setViewportSize({ width: 1440, height: 700 });
    await current('Rules 4 (3 paused)');
    await page.locator('#panel-rules').waitFor();
    await page.locator('#panel-events').waitFor();
    await page.setViewportSize({ width: 800, height: 700 });
    await current('Events 1,217');
    await sees('events');
  });

  test.each([
    [800, ['Events', 'Rules', 'Calls', 'Outbox', 'Chaos']],
    [1440, ['Rules', 'Calls', 'Outbox', 'Chaos']],
  ])('%i pixels: arrow keys go around the tabs that are there', async (width, names) => {
    const { page } = await openWithWorld(chromium, open, { viewport: { width, height: 700 } });
    await page.getByRole('tab', { selected: true }).focus();
    for (const [key, order] of [
      ['ArrowRight', [...names.slice(1), names[0]!]],
      ['ArrowLeft', [...names].reverse()],
      ['ArrowDown', [...names.slice(1), names[0]!]],
      ['ArrowUp', [...names].reverse()],
    ] as const)
      for (const name of order) {
        await page.keyboard.press(key);
        await page.locator('[role=tab][aria-selected=true]:focus', { hasText: name }).waitFor();
        expect(await page.locator('[role=tab][aria-selected=true]').count()).toBe(1);
      }
  });
});

describeInChromium('a key of the inspector', (chromium) => {
  const open = testResources();

  test('with Control, Meta or Alt is the browser’s, and does nothing to the simulator', async () => {
    const { page } = await openWithWorld(chromium, open);
    await choose(page, 'e10');
    const requests = await held(page, /\/_sim\/(?!state|stream|outcomes|events\/e\d+$)/);
    for (const modifier of ['Control', 'Meta', 'Alt'])
      for (const key of ['i', 'r', 'c', 'j', '/']) await page.keyboard.press(`${modifier}+${key}`);
    await drawn(page);
    expect([requests.asked(), await page.getByRole('dialog').count()]).toEqual([0, 0]);
    expect(new URL(page.url()).search).toBe('?event=e10');
    expect(await page.locator('#search:focus').count()).toBe(0);
    await page.keyboard.press('i');
    await requests.arrived(1);
    expect(requests.asked()).toBe(1);
  });

  test('is a key where it means nothing else, and a letter where somebody types', async () => {
    const { page, tab } = await openWithWorld(chromium, open);
    await tab('Chaos');
    const next = page.locator('.event-row[aria-current=true]');
    for (const [selector, isKey] of [
      ['#tab-chaos', true],
      ['#panel-chaos [data-mode=reorder] input[type=checkbox]', true],
      ['#panel-chaos [data-mode=reorder] input[type=range]', true],
      ['.event-row[data-id=e3]', true],
      ['#receiver-filter', false],
      ['#search', false],
    ] as const) {
      await page.locator(selector).focus();
      await page.keyboard.press('j');
      if (isKey) await next.waitFor();
      else await drawn(page);
      expect([selector, await next.count()]).toEqual([selector, isKey ? 1 : 0]);
      await page.locator('#timeline').focus();
      await page.keyboard.press('Escape');
      await next.waitFor({ state: 'detached' });
    }
  });
});
