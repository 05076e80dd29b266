import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { drawn, held } from './held-requests.ts';
import { openWithWorld, WORLD } from './world.ts';
import { testResources } from '../support/test-resources.ts';

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

  test('of an event that is no longer chosen, a late answer shows nothing and closes nothing', async () => {
    const { page } = await openWorld();
    const answers = await held(page, /\/_sim\/events\/e\d+$/);
    const ids = ['e1', 'e2', 'e10'];
    for (const [at, id] of ids.entries()) {
      await page.locator(`.event-row[data-id=${id}]`).click();
      await answers.arrived(at + 1);
    }
    await answers.letGo();
    await drawn(page);
    await page.locator('#detail').waitFor({ state: 'hidden' });
    await answers.refuse('No event has this id.', 404, 'not-found');
    await drawn(page);
    expect(new URL(page.url()).search).toBe('?event=e10');
    await answers.letGo();
    await page.locator('#detail-title[data-id=e10]').waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
  });

  test('of two answers about one event, the one that was asked for last stays', async () => {
    const { page, become } = await openWorld();
    const answers = await held(page, /\/_sim\/events\/e1$/);
    const row = page.locator('.event-row[data-id=e1]');
    const first = WORLD.events.map((one) => (one._id === 'e1' ? { ...one, number: 99 } : one));
    await row.click();
    await answers.arrived(1);
    await become({ events: first });
    await row.getByText('#99').waitFor();
    await answers.arrived(2);
    await answers.letGo(1);
    await page.locator('#detail').getByText('#99').waitFor();
    await become({ events: WORLD.events });
    await row.getByText('#1', { exact: true }).waitFor();
    await answers.arrived(2);
    // What was asked for first is answered last, and by now differs.
    await answers.letGo(0);
    await drawn(page);
    expect(await page.locator('#detail .number').first().textContent()).toBe('#99');
    await answers.letGo(0);
    await page.locator('#detail').getByText('#1', { exact: true }).waitFor();
  });

  test('a secret that was asked for before a rotation is not shown after it', async () => {
    const { page } = await openWorld();
    const secrets = await held(page, /\/_sim\/secrets$/);
    await page.route('**/rotate', (route) => route.fulfill({ json: {} }));
    const card = page.locator('.card.rule').first();
    await card.getByRole('button', { name: 'Show the secret' }).click();
    await secrets.arrived(1);
    await card.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('Rotated. The next').waitFor();
    await secrets.answer({ a1: { current: 'whsec_old', rotations: 0 } });
    await card.locator('[aria-busy]').waitFor({ state: 'detached' });
    await drawn(page);
    expect(await card.locator('.secret').textContent()).toBe('whsec_••••••••••••');
    await card.getByRole('button', { name: 'Show the secret' }).click();
    await secrets.arrived(1);
    await secrets.answer({ a1: { current: 'whsec_new', rotations: 1 } });
    await card.getByText('whsec_new').waitFor();
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

  test('changes are read at most every 300 ms, and what failed once a second', async () => {
    const { page, become, reads } = await openWorld();
    await page.clock.install();
    await page.reload();
    await page.locator('.event-row').first().waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    const count = async (expected: number) => {
      for (let left = 400; reads.length < expected && left > 0; left--)
        await page.waitForTimeout(20);
      expect(reads).toHaveLength(expected);
    };
    /** A busy machine may begin to wait a little later. */
    const soon = async (expected: number) => {
      for (let left = 120; reads.length < expected && left > 0; left--) {
        await page.clock.runFor(10);
        await page.waitForTimeout(10);
      }
      expect(reads).toHaveLength(expected);
    };
    await page.clock.runFor(1_000);
    reads.length = 0;
    await become({});
    await count(1);
    const second = become({});
    await page.waitForTimeout(200);
    await page.clock.runFor(299);
    await count(1);
    await soon(2);
    await second;

    await page.clock.runFor(1_000);
    let failures = 1;
    await page.route(/\/_sim\/state\?/, (route) =>
      failures-- > 0 ? route.fulfill({ status: 500, json: {} }) : route.fallback(),
    );
    await become({});
    await page.waitForTimeout(200);
    await page.clock.runFor(999);
    await count(2);
    await soon(3);
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
