import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('deliveries that are not among the latest', (chromium) => {
  const open = testResources();

  /** 450 calls of a paused rule, so that nothing is sent. The first was with Ida Holm. */
  async function manyCalls() {
    const simulator = await open.simulator();
    const { url } = await open.receiver();
    const rule = simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    simulator.rules.pause(rule._id);
    simulator.calls.start({ calledName: 'Ida Holm', calledNumber: '+15550199' });
    await simulator.clock.advance('1h');
    for (let placed = 1; placed < 450; placed++) simulator.calls.start({ calledName: 'Ola Berg' });
    return simulator;
  }

  test('pages reach the first one, and Back returns', async () => {
    const { page } = await openInspector(chromium, await manyCalls());
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByText('1 to 200 of 450, newest first').waitFor();
    await pages.getByRole('button', { name: 'Older' }).click();
    await pages.getByText('201 to 400 of 450, newest first').waitFor();
    await pages.getByRole('button', { name: 'Oldest' }).click();
    await pages.getByText('251 to 450 of 450, newest first').waitFor();
    await page.locator('.timeline li:last-child').getByText('#1', { exact: true }).waitFor();
    // The page does not hold its call, and names it all the same.
    await page.locator('.timeline li:last-child').getByText('Ida Holm').waitFor();
    await page.goBack();
    await pages.getByText('201 to 400 of 450, newest first').waitFor();
    await pages.getByRole('button', { name: 'Newest' }).click();
    await page.locator('.timeline li:first-child').getByText('#450').waitFor();
  });

  test('a search by name, number, id and text of the body is in the address', async () => {
    const simulator = await manyCalls();
    const { page, count, tab } = await openInspector(chromium, simulator);
    await count('all', 450);
    await page.keyboard.press('/');
    const field = page.getByRole('searchbox', { name: 'Search the deliveries' });
    const [first] = simulator.deliveries.list();
    for (const words of ['ida holm', '#1', first!._id, '+15550199']) {
      await field.fill(words);
      await page.waitForURL(({ searchParams }) => searchParams.get('q') === words);
      await page.locator('.timeline li:only-child').getByText('Ida Holm').waitFor();
      // The chips count what matches the search.
      await count('dropped', 1);
    }
    await page.reload();
    await page.locator('.timeline li:only-child').waitFor();
    expect(await field.inputValue()).toBe('+15550199');
    await field.fill('ida');
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'ida');
    await field.fill('nobody');
    await page.getByText('No delivery matches these filters.').waitFor();
    await field.fill('');
    await count('all', 450);

    await tab('Calls 450');
    const calls = page.locator('#panel-calls');
    await calls.getByRole('searchbox', { name: 'Search the calls' }).fill('0199');
    await calls.locator('li:only-child').getByText('Ida Holm').waitFor();
  });

  test('a time range leaves out the rest', async () => {
    const simulator = await manyCalls();
    const { page, count } = await openInspector(chromium, simulator);
    await count('all', 450);
    const [first, second] = simulator.deliveries.list();
    const local = (ms: number) => new Date(ms).toISOString().slice(0, 19);
    await page.getByText('Any time').click();
    await page.getByLabel('To', { exact: true }).fill(local(first!.createdAt + 60_000));
    await page.locator('.timeline li:only-child').getByText('Ida Holm').waitFor();
    await page.getByLabel('To', { exact: true }).fill('');
    await page.getByLabel('From').fill(local(second!.createdAt));
    await count('all', 449);
  });
});
