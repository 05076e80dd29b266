import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { ANSWERS, DEAD_LETTERS, LETTERS } from './fixed-answers.ts';
import { openFixed } from './open-fixed.ts';
import {
  choose,
  click,
  confirm,
  fill,
  focused,
  FOUND,
  open,
  press,
  running,
  STARTED,
  STARTING,
  type Step,
} from './steps.ts';

const DEAD = '?view=dead-letters';
const LISTED = '?view=deliveries';

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

  const inRow =
    (table: string, at: number): Step =>
    (page) =>
      page.locator(`table[aria-label="${table}"] tbody tr`).nth(at).locator('td').last().click();
  const search: Step = async (page) => {
    await fill('Phone number, email address or name', 'Ada')(page);
    await click('Search for a person')(page);
  };

  test.each<[what: string, query: string, steps: Step[], focus: string]>([
    ['the link of a letter', DEAD, [open('unknown event')], '#letter-l-2'],
    ['the row of a letter', DEAD, [inRow('Dead letters', 1)], '#letter-l-2'],
    ['the example of a cause', DEAD, [open('Open an example', 1)], '#example-c-2'],
    [
      ...(['the link of a letter that was found', DEAD] as const),
      [search, (page) => page.locator('#found-l-1').click()],
      '#found-l-1',
    ],
    [
      ...(['the row of a letter that was found', DEAD] as const),
      [
        search,
        (page) => page.locator('[aria-label="Dead letters of this person"] .error-line').click(),
      ],
      '#found-l-1',
    ],
    ['the address of a letter', `${DEAD}&letter=l-1`, [], '#letter-l-1'],
    ['the address of a letter that is not listed', `${DEAD}&letter=l-3`, [], 'main'],
    ['the link of a delivery', LISTED, [open('queued')], 'a[id^=delivery-w-3][id*=_queued]'],
    ['the row of a delivery', LISTED, [inRow('Deliveries', 3)], 'a[id^=delivery-w-3][id*=_queue_]'],
    ['the address of a delivery', `${LISTED}&delivery=w-1`, [], 'a[id^=delivery-w-1]'],
  ])(
    'a detail has the focus, and gives it back when it closes, to %s',
    async (_what, query, steps, focus) => {
      const { page } = await openFixed(chromium, query, {
        'api/dead-letters/search': FOUND,
        'api/dead-letters/l-2': ANSWERS['api/dead-letters/l-1'],
        'api/deliveries/w-3': ANSWERS['api/deliveries/w-1'],
      });
      await page.locator('tbody tr').first().waitFor();
      for (const close of [press('Escape'), click('Close')]) {
        for (const step of steps) await step(page);
        await focused('.detail h3')(page);
        await close(page);
        await page.locator('.detail').waitFor({ state: 'detached' });
        await focused(focus)(page);
        if (steps.length === 0) return;
      }
    },
  );

  test.each([
    [
      DEAD,
      'text=x&cause=c-1&event=call:started&reason=invalid-payload&tenant=acme',
      [['Search', 'abc']],
    ],
    [
      LISTED,
      'text=x&result=failed&outcome=queued&event=call:started&source=queue&tenant=acme&call=call-1&cause=f-1&version=2.4.1&since=60000&until=120000',
      [
        ['Search', 'abc'],
        ['Call id', 'call-1'],
        ['From', '2026-01-31T13:00'],
        ['To', '2026-01-31T13:30'],
      ],
    ],
  ] as const)(
    'the fields of %s have what the address has, also after Clear and Back',
    async (view, query, typed) => {
      const { page } = await openFixed(chromium, view);
      const shown = async () => {
        const fields = page.locator('search').locator('input, select');
        return fields.evaluateAll((all: unknown) =>
          (all as { value: string }[]).map((one) => one.value),
        );
      };
      const clear = page.getByRole('button', { name: 'Clear', exact: true });
      await page.locator('table').first().waitFor();
      const none = await shown();
      // As if a link led there.
      const go = (search: string) =>
        page.evaluate(
          `history.pushState(null, '', '${view}${search}'); dispatchEvent(new PopStateEvent('popstate'))`,
        );
      for (const filter of query.split('&')) {
        await go(`&${filter}`);
        await clear.waitFor();
        await clear.click();
        await clear.waitFor({ state: 'detached' });
        expect([filter, await shown()]).toEqual([filter, none]);
      }
      await go(`&${query}`);
      await clear.waitFor();
      const all = await shown();
      expect(all).not.toContain('');
      await clear.click();
      await clear.waitFor({ state: 'detached' });
      expect(await shown()).toEqual(none);
      await page.goBack();
      await clear.waitFor();
      expect(await shown()).toEqual(all);
      // What somebody has typed goes as well.
      for (const [label, text] of typed) {
        await page.getByLabel(label, { exact: true }).fill(text);
        await page.getByLabel(label, { exact: true }).press('Tab');
      }
      await clear.click();
      await clear.waitFor({ state: 'detached' });
      expect(await shown()).toEqual(none);
    },
  );

  test.each<[what: string, query: string, steps: readonly Step[], name: string]>([
    [
      ...(['redrive', DEAD] as const),
      [click('Redrive all …'), confirm('Redrive 120 dead letters?', 'Redrive')],
      'redrive',
    ],
    [
      ...(['removal', DEAD] as const),
      [click('Remove all …'), confirm('Remove 120 dead letters?', 'Remove')],
      'removal',
    ],
    [
      ...(['erasure', DEAD] as const),
      [search, click('Erase this person’s data …'), confirm('Erase this person’s data?', 'Erase')],
      'erasure',
    ],
    [
      ...(['dry run', '?view=reconcile'] as const),
      [(page) => page.getByText('No run yet').waitFor(), click('Dry run')],
      'reconcile',
    ],
  ])('what was started has the focus: the %s', async (_what, query, steps, name) => {
    const { page, answer } = await openFixed(chromium, query, { 'api/dead-letters/search': FOUND });
    const begun = running(name);
    for (const step of steps.slice(0, -1)) await step(page);
    answer({ ...begun, ...Object.fromEntries(STARTING.map((path) => [path, begun['api/tasks']])) });
    for (const step of steps.slice(-1)) await step(page);
    await focused(`#${name}-heading`)(page);
  });

  test.each([
    [`${DEAD}&letter=l-1`, DEAD],
    [`${LISTED}&delivery=w-1`, LISTED],
  ])('a search closes the detail of %s, and keeps the focus', async (query, view) => {
    const { page, address } = await openFixed(chromium, query);
    await focused('.detail h3')(page);
    const field = page.getByLabel('Search', { exact: true });
    await field.press('a');
    await page.locator('.detail').waitFor({ state: 'detached' });
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );
    await page.keyboard.type('bc');
    await waitFor(() => address() === `${view}&text=abc`);
    await focused('search input')(page);
  });

  test('after a letter was removed, the focus goes on in the next row once the list has it no more', async () => {
    const { page, answer, pass } = await openFixed(
      chromium,
      `${DEAD}&letter=l-1`,
      { 'api/dead-letters/l-1/remove': { removed: true } },
      { isStill: true },
    );
    await click('Remove …')(page);
    await pass(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await pass(0);
    await page.locator('.detail').waitFor({ state: 'detached' });
    // What was on its way may still have it.
    answer({ 'api/dead-letters': { ...DEAD_LETTERS, letters: LETTERS.slice(1) } });
    await pass(5_200);
    await focused('#letter-l-2')(page);
  });

  test('a second call is brought into view, as the first one was', async () => {
    const { page } = await openFixed(
      chromium,
      `${LISTED}&call=c`,
      {
        'api/calls/c': { callId: 'c', tenant: null, events: [] },
      },
      { viewport: { width: 800, height: 400 } },
    );
    await focused('h3')(page);
    const link = page.locator('[aria-label=Deliveries] tbody a.link:has(code)').first();
    await link.click();
    await page.locator('.call > li').first().waitFor();
    await page.locator('h3:focus', { hasText: 'Call' }).waitFor();
    for (let left = 400; (await page.evaluate<number>('scrollY')) > 200 && left > 0; left--)
      await page.waitForTimeout(20);
    expect(await page.evaluate<number>('scrollY')).toBeLessThan(200);
  });

  test('what is selected stays on other pages and in details, and goes with other filters', async () => {
    const { page, answer, address } = await openFixed(chromium, DEAD);
    const bar = (lines: string[]) => expectSeen(page, '.chosen-bar [role=status]', lines);
    const select = (name: string) => page.getByLabel(`Select ${name}`, { exact: true });
    await select('call:completed of call-1').check();
    await bar(['1 selected']);
    expect(address()).toBe(DEAD); // and is not opened
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
