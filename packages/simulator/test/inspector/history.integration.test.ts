import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openWithWorld } from './world.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('the address of the inspector, and what Back leads to', (chromium) => {
  const open = testResources();

  test('each choice adds one address, the same choice none, and Back goes through all of them', async () => {
    const { page } = await openWithWorld(chromium, open);
    const length = () => page.evaluate<number>('history.length');
    const began = await length();
    const filters = page.locator('#filters');
    const row = (id: string) => () => page.locator(`.event-row[data-id=${id}]`).click();
    const chip = (name: string) => () => filters.locator('.chip', { hasText: name }).click();
    const select = (label: string, value: string) => () =>
      page.getByLabel(label, { exact: true }).selectOption(value);
    const search = (text: string) => () => page.locator('#search').fill(text);
    const crm = 'url=http%3A%2F%2F127.0.0.1%3A3000%2Fcrm';
    const steps: readonly (readonly [act: () => Promise<unknown>, address: string, adds: 0 | 1])[] =
      [
        [chip('All'), '', 0],
        [row('e1'), '?event=e1', 1],
        [row('e1'), '?event=e1', 0],
        [row('e2'), '?event=e2', 1],
        [() => page.keyboard.press('Escape'), '', 1],
        [() => page.keyboard.press('Escape'), '', 0],
        [chip('Failed'), '?state=failed', 1],
        [chip('Waiting'), '?state=waiting', 1],
        [chip('Waiting'), '', 1],
        [search('i'), '?q=i', 1],
        [search('id'), '?q=id', 0],
        [search('ida'), '?q=ida', 0],
        [select('Receiver', 'http://127.0.0.1:3000/crm'), `?q=ida&${crm}`, 1],
        [select('Event name', 'call:started'), `?q=ida&${crm}&eventName=call%3Astarted`, 1],
        [search(''), `?${crm}&eventName=call%3Astarted`, 1],
        [search('bo'), `?${crm}&eventName=call%3Astarted&q=bo`, 1],
        [row('e3'), `?${crm}&eventName=call%3Astarted&q=bo&event=e3`, 1],
      ];
    const names = (address: string) => address.slice(1).split('&').sort().join('&');
    const past = [''];
    for (const [act, address, adds] of steps) {
      await act();
      await page.waitForURL(({ search }) => names(search) === names(address));
      if (adds === 1) past.push(address);
      else past[past.length - 1] = address;
      expect([address, (await length()) - began]).toEqual([address, past.length - 1]);
    }
    for (const address of past.slice(0, -1).reverse()) {
      await page.goBack();
      await page.waitForURL(({ search }) => names(search) === names(address));
    }
    await page.locator('#detail').waitFor({ state: 'detached' });
    expect(await page.locator('#search').inputValue()).toBe('');
  });

  test('a bookmark opens with its filters and its event, and each control says so', async () => {
    const { page, reads } = await openWithWorld(chromium, open);
    const url = 'http://127.0.0.1:4000/archive';
    const query = new URLSearchParams({
      ...{ state: 'failed', eventName: 'call:completed', ruleId: 'r2', url, q: 'ida holm' },
      event: 'e10',
    });
    reads.length = 0;
    await page.goto(`${page.url()}?${query.toString()}`);
    await page.locator('#detail-title[data-id=e10]').waitFor();
    const asked = new URLSearchParams(reads[0]!.split('?')[1]);
    expect(Object.fromEntries(asked)).toEqual({
      ...{ state: 'failed', eventName: 'call:completed', ruleId: 'r2', url, q: 'ida holm' },
      limit: '200',
    });
    const pressed = page.locator('#filters [aria-pressed=true]');
    expect(await pressed.allTextContents()).toEqual(['Failed 2']);
    expect(await page.locator('#search').inputValue()).toBe('ida holm');
    expect(await page.locator('#receiver-filter').inputValue()).toBe(url);
    expect(await page.locator('#event-filter').inputValue()).toBe('call:completed');
    await page.getByTitle('Show all', { exact: true }).getByText('Rule: Archive').waitFor();
    const chosen = page.locator('.event-row[aria-current=true]');
    expect(await chosen.locator('.number').allTextContents()).toEqual(['#10']);
    await page.locator('#filters').getByRole('button', { name: 'All 115' }).click();
    await page.waitForURL(({ searchParams }) => !searchParams.has('state'));
    await pressed.and(page.locator('.chip:first-child')).waitFor();
    expect(await pressed.allTextContents()).toEqual(['All 115']);
  });

  test('the first link of the page leads past the bar and the tabs to the events', async () => {
    const { page } = await openWithWorld(chromium, open);
    await page.locator('body').press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the events' });
    await skip.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('#timeline:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.locator('.event-row[data-id=e15]:focus').waitFor();
  });

  test('an event that is gone leaves no address behind', async () => {
    const { page } = await openWithWorld(chromium, open);
    const length = () => page.evaluate<number>('history.length');
    const before = await length();
    await page.goto(`${page.url()}?event=deadbeef&state=failed`);
    await page.getByText('This event no longer exists.').waitFor();
    await page.waitForURL(({ search }) => search === '?state=failed');
    expect(await length()).toBe(before + 1);
  });

  test('a search that is being typed ends with Back, and does not come afterwards', async () => {
    const { page } = await openWithWorld(chromium, open);
    await page.clock.install();
    await page.reload();
    await page.locator('.event-row').first().waitFor();
    const field = page.locator('#search');
    await field.fill('ida');
    await page.clock.runFor(300);
    await page.waitForURL(({ search }) => search === '?q=ida');
    await page.clock.pauseAt(Date.now() + 60_000);
    await field.fill('ida h');
    await page.goBack();
    await page.waitForURL(({ search }) => search === '');
    await page.clock.runFor(150); // it is drawn; the search is not due yet
    await page.clock.runFor(1_000);
    expect([new URL(page.url()).search, await field.inputValue()]).toEqual(['', '']);
  });

  test('the filter by a rule or by a call is removed by its chip, which hands on the focus', async () => {
    const { page } = await openWithWorld(chromium, open);
    const origin = page.url();
    for (const [query, name] of [
      ['ruleId=r2', 'Rule: Archive'],
      ['callId=c2', 'Call: Ola Berg'],
      ['ruleId=gone', 'Rule: removed'],
      ['callId=gone', 'Call: unknown (gone)'],
      ['callId=c2&ruleId=r2', 'Call: Ola Berg'],
    ] as const) {
      await page.goto(`${origin}?${query}&q=ida&state=waiting`);
      const chip = page.getByTitle('Show all', { exact: true });
      await chip.getByText(name, { exact: true }).waitFor();
      await chip.click();
      await chip.waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('?q=ida&state=waiting');
      await page.locator('#event-filter:focus').waitFor();
    }
  });
});
