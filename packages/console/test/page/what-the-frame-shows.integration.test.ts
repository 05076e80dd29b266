import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import type { Session } from '../../src/api-types.ts';
import { ANSWERS, NOW, SESSION } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';

const session = (changes: Partial<Session>) => ({ 'api/session': { ...SESSION, ...changes } });
const LOST =
  'The receiver is not responding. It may be restarting or stopped, or the network may be down. The page shows data from 13:00:05. The page keeps trying to reconnect.';
const SIGNED_OUT =
  'Your session has ended, or you no longer have access to this console. This page is out of date.';

describeInChromium('around every view', (chromium) => {
  test.each([
    [
      'now',
      '',
      [
        '[Skip to main content](#view)',
        '# Call webhooks console',
        'Live',
        'Times in Europe/Oslo Ada <Change between light and dark>',
        '[Now](/ops/webhooks/ current)',
        '[Deliveries](?view=deliveries)',
        '[Dead letters 120 waiting](?view=dead-letters)',
        '[Reconcile](?view=reconcile)',
      ],
    ],
    [
      'dead-letters',
      '?view=dead-letters',
      [
        '[Skip to main content](#view)',
        '# Call webhooks console',
        'Live',
        'Times in Europe/Oslo Ada <Change between light and dark>',
        '[Now](/ops/webhooks/)',
        '[Deliveries](?view=deliveries)',
        '[Dead letters 120 waiting](?view=dead-letters current)',
        '[Reconcile](?view=reconcile)',
      ],
    ],
    [
      'now',
      '?view=nothing',
      [
        '[Skip to main content](#view)',
        '# Call webhooks console',
        'Live',
        'Times in Europe/Oslo Ada <Change between light and dark>',
        '[Now](/ops/webhooks/ current)',
        '[Deliveries](?view=deliveries)',
        '[Dead letters 120 waiting](?view=dead-letters)',
        '[Reconcile](?view=reconcile)',
      ],
    ],
  ] as const)('stand the name, the links and who looks: %s at "%s"', async (view, query, lines) => {
    const { page } = await openFixed(chromium, query);
    await page.locator(`body[data-ready=${view}]`).waitFor();
    await expectSeen(page, '.skip, .top, .views', lines);
    expect(await page.title()).toBe(
      `${view === 'now' ? 'Now' : 'Dead letters'} · Call webhooks: console`,
    );
  });

  test.each([
    [
      'of the console',
      { canWrite: false, readOnly: true, name: null },
      [
        '(wait: Read-only)',
        'Read-only. This console was created with readOnly, so nothing can be redriven, removed or reconciled here, and personal data stays masked.',
      ],
    ],
    [
      'of the person',
      { canWrite: false },
      [
        '(wait: Read-only)',
        'Read-only. You can view this console, but you cannot redrive, remove, reconcile or show personal data. If you need to, ask the person who runs this receiver.',
      ],
    ],
    ['neither', {}, []],
  ] as const)(
    'says whose choice it is that nothing can be changed: %s',
    async (_who, changes, lines) => {
      const { page } = await openFixed(chromium, '?view=dead-letters', session(changes));
      await page.locator('.view-head').waitFor();
      await expectSeen(page, '.top-end .badge, .read-only, .zone:nth-of-type(4)', lines);
    },
  );

  test.each([0, null])('no badge stands at the dead letters while %p wait', async (waiting) => {
    const { page } = await openFixed(chromium, '', {
      'api/tasks': { ...ANSWERS['api/tasks'], waiting },
    });
    await page.locator('.status').waitFor();
    await expectSeen(page, '.views a:nth-child(1)', [
      '[Now](/ops/webhooks/ current)',
      '[Deliveries](?view=deliveries)',
      '[Dead letters](?view=dead-letters)',
      '[Reconcile](?view=reconcile)',
    ]);
  });

  test.each([
    [refusal(503, 'store-unavailable', 'No store.'), 'No store.'],
    [refusal(401), 'The response did not come from the console. Your session may have ended.'],
    [refusal(403), 'The response did not come from the console. Your session may have ended.'],
    ['sign-in page', 'The response did not come from the console. Your session may have ended.'],
    [refusal(404), 'There is no longer a console at this address.'],
    [refusal(410), 'The server returned 410.'],
    [
      refusal(502),
      'The receiver is not responding. It may be restarting, or the network is down. (502)',
    ],
    ['lost', 'The receiver is not responding. It may be restarting, or the network is down.'],
  ])('before anything is known, says why it cannot begin: %j', async (answer, text) => {
    const { page } = await openFixed(chromium, '', { 'api/session': answer });
    await expectSeen(page, '#view', [text]);
  });

  test.each([
    ['lost', 'No response', [LOST]],
    [refusal(502), 'No response', [LOST]],
    [refusal(404), 'No response', [LOST]],
    [refusal(503, 'unavailable', 'No access check.'), 'No response', [LOST, 'No access check.']],
    [refusal(401), 'Signed out', [SIGNED_OUT, '[Sign in](/login?to=ops)']],
    ['sign-in page', 'Signed out', [SIGNED_OUT, '[Sign in](/login?to=ops)']],
    [refusal(403, 'unauthorized'), 'Signed out', [SIGNED_OUT, '[Sign in](/login?to=ops)']],
    [refusal(503, 'store-unavailable', 'No store.'), 'Live', ['No store.']],
    [refusal(500, 'internal', 'It failed.'), 'Live', ['It failed.']],
  ] as const)(
    'says what is wrong with the connection, and shows what it knew: %j',
    async (answer, word, lines) => {
      const { page, pass, answer: change } = await openFixed(chromium, '', {}, { isStill: true });
      await expectSeen(page, '.connection', ['Live']);
      while ((await page.locator('.status').count()) === 0) await pass(0);
      change(Object.fromEntries(Object.keys(ANSWERS).map((path) => [path, answer])));
      await pass(3_500); // the next poll of the overview, and of nothing else
      await expectSeen(page, '[role=alert]:not(#alerts)', lines);
      await expectSeen(page, '.connection', [word]);
      await expectSeen(page, '.status-line', ['# 3 things need attention: call:completed fails.']);
      change({ ...ANSWERS });
      await pass(3_500);
      await expectSeen(page, '.connection', ['Live']);
      await expectSeen(page, '[role=alert]:not(#alerts)', []);
    },
  );

  test('says that it is this computer that is offline', async () => {
    const { page, pass, answer } = await openFixed(chromium, '', {}, { isStill: true });
    await page.evaluate(`Object.defineProperty(navigator, 'onLine', { get: () => false })`);
    answer({ 'api/overview': 'lost' });
    await pass(3_500);
    await expectSeen(page, '.banner', [
      'This computer is offline. The page shows data from 13:00:05. The page keeps trying to reconnect.',
    ]);
  });

  test('who signed out without a place to sign in can reload', async () => {
    const opened = await openFixed(chromium, '', session({ signIn: null }), { isStill: true });
    const { page, pass, answer, asked, asks } = opened;
    answer({ 'api/overview': refusal(401) });
    await pass(3_500);
    await expectSeen(page, '.banner', [SIGNED_OUT, '<Reload>']);
    asked.splice(0);
    await page.getByRole('button', { name: 'Reload' }).click();
    await pass(0);
    await asks('GET api/session');
  });

  test.each(['', '?view=deliveries&delivery=w-1&call=call-1', '?view=dead-letters&letter=l-1'])(
    'each time tells its day and zone in its tooltip, and each link that leads elsewhere opens there: "%s"',
    async (query) => {
      const { page } = await openFixed(chromium, query);
      await page.locator('#view time').nth(3).waitFor({ state: 'attached' });
      await page.locator('#view a[href^=https]').first().waitFor();
      const attributes = (selector: string, names: readonly string[]) =>
        page.evaluate<(string | null)[][]>(
          `[...document.querySelectorAll('${selector}')].map((one) => ${JSON.stringify(names)}.map((name) => one.getAttribute(name)))`,
        );
      for (const [title, iso] of await attributes('#view time', ['title', 'datetime'])) {
        const utc = String(iso).replace('T', ' ').slice(0, 19);
        expect(title).toMatch(/^\d\d? \w{3} 202\d, \d\d:\d\d:\d\d CET \(/);
        expect(title).toContain(`(${utc} UTC)`);
      }
      const links = await attributes('#view a[href^=https]', ['target', 'rel']);
      expect(new Set(links.map(String))).toEqual(new Set(['_blank,noreferrer']));
    },
  );

  test('a time ago stays true while nothing is read', async () => {
    const oldestAt = NOW - 58_000;
    const answers = { 'api/dead-letters': { ...ANSWERS['api/dead-letters'], oldestAt } };
    const { page, pass } = await openFixed(chromium, '?view=dead-letters', answers, {
      isStill: true,
    });
    const first = page.getByText('The oldest dead letter failed');
    await first.getByText(/^5[89] s ago$/).waitFor();
    await pass(2_000);
    await first.getByText('1 min ago').waitFor();
  });

  test('a view that cannot be drawn says so, and the others stay', async () => {
    const answers = { 'api/overview': { now: NOW, status: null } };
    const { page } = await openFixed(chromium, '', answers);
    const failed = [
      'This view cannot be shown',
      "The page failed: TypeError: Cannot read properties of null (reading 'tenants')",
      'The other views still work. If reloading does not help, this page may be older or newer than the receiver that responded.',
      '<Reload>',
    ];
    await expectSeen(page, '#view', failed);
    await page.getByRole('link', { name: 'Reconcile' }).click();
    await expectSeen(page, '#view h2', ['# Reconcile']);
    await page.getByRole('link', { name: 'Now' }).click();
    await expectSeen(page, '#view', failed);
  });
});
