import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { DEAD_LETTERS, LETTERS } from './fixed-answers.ts';
import { openFixed } from './open-fixed.ts';
import { choose, click, confirm, fill, open, running, STARTED, type Step } from './steps.ts';

const DEAD = '?view=dead-letters';

describeInChromium('moving around', (chromium) => {
  test('another view begins at its top, with the focus, and the same view stays where it is', async () => {
    const { page } = await openFixed(chromium, '', {}, { viewport: { width: 800, height: 500 } });
    const scrolled = () => page.evaluate<number>('scrollY');
    await page.getByRole('heading', { name: /^Processes/ }).scrollIntoViewIfNeeded();
    const before = await scrolled();
    expect(before).toBeGreaterThan(500);
    await choose('Show the times of', 'call:completed')(page);
    expect(Math.abs((await scrolled()) - before)).toBeLessThan(before / 2);
    await page.getByRole('link', { name: 'in-dead-letters' }).click();
    await page.locator('main[aria-label=Deliveries]:focus').waitFor();
    await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
    for (let left = 400; (await scrolled()) > 0 && left > 0; left--) await page.waitForTimeout(20);
    expect(await scrolled()).toBe(0);
    await page.getByRole('link', { name: 'Skip to main content' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
  });

  test.each(['Control', 'Meta', 'Shift', 'Alt'] as const)(
    'a click with %s is left to the browser',
    async (key) => {
      for (const [query, name] of [
        ['', 'Reconcile'],
        ['', 'in-dead-letters'],
        [DEAD, 'call:completed'],
        [DEAD, 'call-1'],
      ] as const) {
        const { page, address } = await openFixed(chromium, query);
        const link = page.getByRole('link', { name, exact: true });
        await link.waitFor();
        // What the browser would do elsewhere, such as in a new tab.
        await page.evaluate(
          `window.left = []; addEventListener('click', (event) => { window.left.push(event.defaultPrevented); event.preventDefault(); })`,
        );
        await link.click({ modifiers: [key] });
        expect([name, await page.evaluate('window.left'), address()]).toEqual([
          name,
          [false],
          query,
        ]);
        await link.click();
        const clicks = () => page.evaluate<number>('window.left.length');
        for (let left = 400; (await clicks()) < 2 && left > 0; left--)
          await page.waitForTimeout(20);
        expect([name, await page.evaluate('window.left')]).toEqual([name, [false, true]]);
      }
    },
  );

  test('what is selected stays on other pages and in details, and goes with other filters', async () => {
    const { page, answer } = await openFixed(chromium, DEAD);
    const bar = (lines: string[]) => expectSeen(page, '.chosen-bar [role=status]', lines);
    const select = (name: string) => page.getByLabel(`Select ${name}`, { exact: true });
    await select('call:completed of call-1').check();
    await bar(['1 selected']);
    answer({ 'api/dead-letters': { ...DEAD_LETTERS, letters: LETTERS.slice(1) } });
    await click('Older')(page);
    await select('call:completed of call-1').waitFor({ state: 'detached' });
    await select('unknown event').check();
    await open('unknown event')(page);
    await bar(['2 selected']);
    answer({ 'api/dead-letters': DEAD_LETTERS });
    await click('Newer')(page);
    await select('call:completed of call-1').waitFor();
    expect(await select('call:completed of call-1').isChecked()).toBe(true);
    await click('Clear selection')(page);
    await bar([]);
    const filters: Step[] = [
      choose('Event', 'call:started'),
      choose('Reason', 'invalid-payload'),
      choose('Tenant', 'globex'),
      fill('Search', 'x'),
      click('Show these'),
      click('Clear'),
    ];
    for (const filter of filters) {
      await select('unknown event').check();
      await bar(['1 selected']);
      await filter(page);
      await bar([]);
    }
  });

  test('what was selected is selected no more once its redrive or removal has begun', async () => {
    const { page, posted } = await openFixed(chromium, DEAD, STARTED);
    for (const [verb, path] of [
      ['Redrive', 'redrive'],
      ['Remove', 'remove'],
    ] as const) {
      await page.getByLabel('Select unknown event').check();
      await click(`${verb} selected …`)(page);
      await confirm(`${verb} 1 dead letter?`, verb)(page);
      await page.locator('.chosen-bar').waitFor({ state: 'detached' });
      expect(posted()).toEqual([`POST api/${path} {"ids":["l-2"]}`]);
    }
  });

  test.each(['redrive', 'removal', 'erasure'])(
    'while the %s runs, nothing that would run letters can be clicked, and all else can',
    async (name) => {
      const { page } = await openFixed(chromium, `${DEAD}&letter=l-1`, running(name));
      await page.getByLabel('Select unknown event').check();
      await page.locator('.detail .facts').waitFor();
      await expectSeen(page, '#view button', [
        '<Stop>',
        '<Close>',
        '<Redrive disabled>',
        '<Remove …>',
        '<Copy stack trace>',
        '<Raw>',
        '<Copy body>',
        '<Show personal data>',
        '<Show these>',
        '<Redrive these 119 … disabled>',
        '<Remove these 119 … disabled>',
        '<Show these>',
        '<Redrive this one … disabled>',
        '<Remove this one … disabled>',
        '<Search for a person>',
        '<Redrive all … disabled>',
        '<Remove all … disabled>',
        '<Select these 2>',
        '<Older>',
        '<Redrive selected … disabled>',
        '<Remove selected … disabled>',
        '<Clear selection>',
      ]);
    },
  );

  test('a reconcile run leaves dead letters alone, and only one of it can be started', async () => {
    const still = { isStill: true };
    const { page, pass } = await openFixed(chromium, DEAD, running('reconcile'), still);
    expect(await page.getByRole('button', { disabled: true }).count()).toBe(0);
    await open('Reconcile')(page);
    await pass(0);
    await expectSeen(page, '#view button', ['<Dry run disabled>', '<Stop>']);
  });
});
