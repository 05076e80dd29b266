import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { openInspector } from './open-inspector.ts';
import { testResources } from '../support/test-resources.ts';

describeInChromium('events that are not among the latest', (chromium) => {
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

  test('more are shown until the first one is there', async () => {
    const { page } = await openInspector(chromium, await manyCalls());
    const more = page.getByRole('button', { name: 'Show more' });
    await page.getByText('250 older events').waitFor();
    await more.click();
    await page.getByText(/^50 older events/).waitFor();
    await more.click();
    await page.locator('.timeline li:last-child').getByText('#1', { exact: true }).waitFor();
    // The name of the call comes with the event.
    await page.locator('.timeline li:last-child').getByText('Ida Holm').waitFor();
    expect(await more.count()).toBe(0);
  });

  test('a search by name, number, id and text of the body is in the address', async () => {
    const simulator = await manyCalls();
    const { page, count } = await openInspector(chromium, simulator);
    await count('all', 450);
    await page.keyboard.press('/');
    const field = page.getByRole('searchbox', { name: 'Search the events' });
    const [first] = simulator.events.list();
    const says = async (words: string) => {
      for (let left = 200; (await field.inputValue()) !== words && left > 0; left--)
        await page.waitForTimeout(20);
      expect(await field.inputValue()).toBe(words);
    };
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
    await page.getByText('No event matches these filters.').waitFor();
    // Back leaves the search as a whole, and the field says what is searched for.
    await page.goBack();
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === null);
    await says('');
    await page.goForward();
    await says('nobody');
    await page.getByText('No event matches these filters.').waitFor();
    await field.fill('');
    await count('all', 450);
  });
});
