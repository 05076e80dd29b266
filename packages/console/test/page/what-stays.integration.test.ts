import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectMarks } from '@call-webhooks/ui/test/marks';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { ANSWERS, DEAD_LETTERS, NOW, OVERVIEW } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';
import { choose, click, fill, FOUND, running } from './steps.ts';

const DEAD = '?view=dead-letters';
const LISTED = '?view=deliveries';
const LIST = ANSWERS['api/deliveries'];
const CALL = ANSWERS['api/calls/call-1'];
const still = { isStill: true };

describeInChromium('what stays true', (chromium) => {
  test('a page that is out of date says since when, however long nothing responds', async () => {
    const { page, pass, answer } = await openFixed(chromium, '', {}, still);
    answer(Object.fromEntries(Object.keys(ANSWERS).map((path) => [path, 'lost'])));
    for (const seconds of [4, 70, 3_600]) {
      await page.clock.fastForward(seconds * 1_000);
      await pass(10_500);
      await expectSeen(page, '.banner', [
        'The receiver is not responding. It may be restarting or stopped, or the network may be down. The page shows data from 13:00:05. The page keeps trying to reconnect.',
      ]);
    }
  });

  test('the time of the last response is that of the last one, not of the first', async () => {
    const { page, pass, answer } = await openFixed(chromium, '', {}, still);
    await pass(60_000);
    answer(Object.fromEntries(Object.keys(ANSWERS).map((path) => [path, 'lost'])));
    await pass(6_000);
    await page.locator('.banner').waitFor();
    const [, since = ''] =
      /data from (13:\d\d:\d\d)/.exec((await page.locator('.banner').textContent()) ?? '') ?? [];
    expect(since >= '13:01:00' && since <= '13:01:11').toBe(true);
  });

  test.each([
    [LISTED, 'Tenant', 'tenant', { 'api/deliveries': { ...LIST, tenants: [] } }],
    [LISTED, 'Version', 'version', { 'api/deliveries': { ...LIST, versions: [] } }],
    [LISTED, 'Event', 'event', { 'api/deliveries': { ...LIST, eventNames: [] } }],
    [DEAD, 'Tenant', 'tenant', { 'api/dead-letters': { ...DEAD_LETTERS, tenants: [] } }],
    [DEAD, 'Event', 'event', { 'api/dead-letters': { ...DEAD_LETTERS, eventNames: [] } }],
  ] as const)(
    'a filter that is set is shown and can be left, although nothing has it any more: %s, %s',
    async (view, label, name, answers) => {
      const { page, address } = await openFixed(chromium, `${view}&${name}=gone`, answers);
      const any = `Any ${name}`;
      await expectSeen(page, `select[aria-label=${label}]`, [`{${label}: gone of ${any}, gone}`]);
      await choose(label, '')(page);
      const isOptional = name !== 'event';
      await expectSeen(
        page,
        `select[aria-label=${label}]`,
        isOptional ? [] : [`{${label}: ${any} of ${any}}`],
      );
      expect(address()).toBe(view);
    },
  );

  test.each([
    ['done', 'redrive', { handled: 2, failed: 1 }, 'Redrive ended: 2 handled, 1 failed again.'],
    ['stopped', 'removal', { removed: 1_200 }, 'Removal ended: 1,200 removed.'],
    ['failed', 'erasure', {}, 'Erasure ended: nothing was found.'],
    ['lost', 'reconcile', { missed: 3, seen: 9 }, 'Reconcile run ended: 3 missed.'],
  ])(
    'the end of a task is told in every view, however it ended: %s',
    async (state, name, counts, text) => {
      const more = { counts: { stoppedEarly: false, ...counts } };
      const { page, pass, answer } = await openFixed(chromium, '', running(name, more), still);
      answer(running(name, { ...more, state, error: 'No store.' }));
      await pass(1_500);
      await expectSeen(page, '#notices p', [text]);
    },
  );

  test('each message stays for five seconds of its own', async () => {
    const { page, pass } = await openFixed(chromium, '', {}, still);
    const press = async (theme: string) => {
      await page.getByRole('button', { name: 'Change between light and dark' }).click();
      await pass(0);
      await expectSeen(page, '#notices p:last-child, #notices div:last-child p', [theme]);
    };
    await press('Theme: light.');
    await pass(3_000);
    await press('Theme: dark.');
    await pass(2_500);
    await expectSeen(page, '#notices p', ['Theme: dark.']);
    await pass(3_000);
    await expectSeen(page, '#notices p', []);
    // What was chosen is kept, and all three follow each other.
    await page.reload();
    await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' });
  });

  test('a call of another tenant is read at once, and not shown as that of the one before', async () => {
    const { page, asked, pass } = await openFixed(
      ...([chromium, `${LISTED}&call=call-1&tenant=acme`, {}, still] as const),
    );
    expect(asked).toContain('GET api/calls/call-1?tenant=acme');
    await choose('Tenant', '')(page);
    await pass(0);
    expect(asked).toContain('GET api/calls/call-1');
  });

  test.each([
    [['ignored', 'queued'], '(info: Queued)'],
    [['queued', 'ignored'], '(muted: Ignored)'],
    [['queued', 'handled'], '(muted: Not seen)'],
    [['handled', 'queued'], '(info: Queued)'],
    [[], '(muted: Not seen)'],
  ])(
    'what the store knows nothing of has the state of its last outcome: %j',
    async (outcomes, badge) => {
      const deliveries = outcomes.map((outcome, at) => ({
        ...{ ...LIST.deliveries[0], outcome, at: NOW - 9_000 + at, id: `w-${String(at)}` },
      }));
      const event = { eventName: 'e', state: null, deliveries, isLetterGone: false };
      const { page } = await openFixed(chromium, `${LISTED}&call=call-1`, {
        'api/calls/call-1': { ...CALL, events: [event] },
      });
      await expectSeen(page, '.call-event', [`e ${badge}`]);
    },
  );

  test('a search for a person ends where there is nothing older, with all that it found', async () => {
    const path = 'api/dead-letters/search';
    const { page, answer } = await openFixed(chromium, DEAD, { [path]: FOUND });
    await fill('Phone number, email address or name', 'Ada')(page);
    await click('Search for a person')(page);
    await page.getByText('1 dead letter found, 32 searched').waitFor();
    answer({ [path]: { letters: [], searched: 5, searchedTo: NOW - 120_000, inFullOnly: true } });
    await click('Search older dead letters')(page);
    const section = '.section:has([aria-label="Dead letters of this person"])';
    await expectSeen(page, `${section} > .hint, ${section} > .buttons`, [
      '1 dead letter found, 37 searched, back to 12:58:05. A phone number with fewer than nine digits is found only if it is written in full. Enter its last nine digits or more.',
      '<Select these 1> <Erase this person’s data …>',
    ]);
  });

  test('the first steps are shown only to those to whom nothing came in 26 hours', async () => {
    const { log } = OVERVIEW;
    const hour = { ...log?.hour, sources: {} };
    const { page } = await openFixed(chromium, '', {
      'api/overview': { ...OVERVIEW, log: { ...log, hour } },
    });
    await page.locator('.tile').first().waitFor();
    await expectSeen(page, '.steps, [aria-label=Outcomes], [aria-label=Sources]', []);
  });

  test.each([
    ['Redrive all …', 'Redrive 120 dead letters?', 'Redrive (button primary)'],
    ['Remove all …', 'Remove 120 dead letters?', 'Remove (button danger)'],
  ])('what cannot be undone has a button of another colour: %s', async (ask, title, go) => {
    const { page } = await openFixed(chromium, DEAD);
    await click(ask)(page);
    await page.getByRole('dialog').waitFor();
    await expectMarks(page, 'dialog', [
      ...[`dialog ${title}`, 'role alert p', 'button Cancel (button)', `button ${go} submit`],
    ]);
  });

  test('who cannot be reached at first is shown as soon as somebody responds', async () => {
    const { page, pass, answer } = await openFixed(
      ...([chromium, '', { 'api/overview': refusal(502), 'api/times': refusal(502) }] as const),
      still,
    );
    await expectSeen(page, '.tile', []);
    answer(ANSWERS);
    await pass(3_500);
    expect(await page.locator('.tile').count()).toBe(8);
  });
});
