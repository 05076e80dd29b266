import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { ANSWERS, DEAD_LETTERS, LETTERS, NOW } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';
import {
  choose,
  click,
  confirm,
  dryRun,
  fill,
  focused,
  FOUND,
  open,
  press,
  running,
  STARTED,
  type Step,
} from './steps.ts';

const LETTER = ANSWERS['api/dead-letters/l-1'];
const DEAD = '?view=dead-letters';
const LISTED = '?view=deliveries';
const F = `${DEAD}&text=x&event=call:completed`;

describeInChromium('a click', (chromium) => {
  test.each<[what: string, query: string, steps: Step[], posted: string[]]>([
    [
      ...(['redrives all', DEAD] as const),
      [click('Redrive all …'), confirm('Redrive 120 dead letters?', 'Redrive')],
      ['POST api/redrive {"all":true}'],
    ],
    [
      ...(['removes all', DEAD] as const),
      [click('Remove all …'), confirm('Remove 120 dead letters?', 'Remove')],
      ['POST api/remove {"all":true}'],
    ],
    [
      ...(['redrives only what matches', F] as const),
      [click('Redrive all that match …'), confirm('Redrive 120 dead letters?', 'Redrive')],
      ['POST api/redrive {"filter":{"text":"x","event":"call:completed"}}'],
    ],
    [
      ...(['removes only what matches', F] as const),
      [click('Remove all that match …'), confirm('Remove 120 dead letters?', 'Remove')],
      ['POST api/remove {"filter":{"text":"x","event":"call:completed"}}'],
    ],
    [
      ...(['redrives a cause within the filters', F] as const),
      [click('Redrive these 119 …'), confirm('Redrive 119 dead letters?', 'Redrive')],
      ['POST api/redrive {"filter":{"text":"x","event":"call:completed","cause":"c-1"}}'],
    ],
    [
      ...(['removes a cause', DEAD] as const),
      [click('Remove this one …'), confirm('Remove 1 dead letter?', 'Remove')],
      ['POST api/remove {"filter":{"cause":"c-2"}}'],
    ],
    [
      ...(['redrives one letter', `${DEAD}&letter=l-1`] as const),
      [click('Redrive')],
      ['POST api/redrive {"ids":["l-1"]}'],
    ],
    [
      ...(['removes one letter', `${DEAD}&letter=l-1`] as const),
      [click('Remove …'), confirm('Remove this dead letter?', 'Remove')],
      ['POST api/dead-letters/l-1/remove {}'],
    ],
    [
      ...(['shows and hides personal data', `${DEAD}&letter=l-1`] as const),
      [click('Show personal data'), click('Hide personal data'), click('Show personal data')],
      ['POST api/dead-letters/l-1/reveal {}', 'POST api/dead-letters/l-1/reveal {}'],
    ],
    [
      ...(['redrives what is selected, once', DEAD] as const),
      [
        (page) => page.getByLabel('Select unknown event').check(),
        click('Select these 2'),
        (page) => page.getByLabel('Select call:completed of call-1').uncheck(),
        click('Redrive selected …'),
        confirm('Redrive 1 dead letter?', 'Redrive'),
        (page) => page.locator('.chosen-bar').waitFor({ state: 'detached' }),
      ],
      ['POST api/redrive {"ids":["l-2"]}'],
    ],
    [
      ...(['searches for a person within the filters, and erases', F] as const),
      [
        fill('Phone number, email address or name', '  Ada '),
        click('Search for a person'),
        click('Erase this person’s data …'),
        (page) => page.getByRole('switch').check(),
        confirm('Erase this person’s data?', 'Erase'),
        (page) => page.getByText('Dead letters of this person').waitFor({ state: 'detached' }),
      ],
      [
        'POST api/dead-letters/search {"about":"Ada","text":"x","event":"call:completed"}',
        'POST api/erase {"about":"Ada","text":"x","event":"call:completed","forgetKeys":true}',
      ],
    ],
    [
      ...(['goes on with a search as it began', F] as const),
      [
        fill('Phone number, email address or name', 'Ada'),
        click('Search for a person'),
        (page) => page.getByText('1 dead letter found').waitFor(),
        choose('Event', 'call:started'),
        fill('Phone number, email address or name', 'Bob'),
        click('Search older dead letters'),
        (page) => page.getByText('2 dead letters found, 64 searched').waitFor(),
        click('Erase this person’s data …'),
        confirm('Erase this person’s data?', 'Erase'),
      ],
      [
        'POST api/dead-letters/search {"about":"Ada","text":"x","event":"call:completed"}',
        'POST api/dead-letters/search {"about":"Ada","text":"x","event":"call:completed","before":"b-1"}',
        'POST api/erase {"about":"Ada","text":"x","event":"call:completed","forgetKeys":false}',
      ],
    ],
    [
      ...(['starts a dry run of the hours that were chosen', '?view=reconcile'] as const),
      [choose('Calls that began in the last', '12'), click('Dry run')],
      [`POST api/reconcile {"dryRun":true,"since":${String(NOW - 12 * 3_600_000)}}`],
    ],
  ])('%s', async (_what, query, steps, posted) => {
    const opened = await openFixed(chromium, query, {
      ...STARTED,
      'api/dead-letters/search': FOUND,
      'api/dead-letters/l-1/remove': { removed: true },
      'api/dead-letters/l-1/reveal': { ...LETTER, body: { ...LETTER.body, masked: false } },
    });
    for (const step of steps) await step(opened.page);
    await waitFor(
      () => opened.asked.filter((one) => one.startsWith('POST')).length >= posted.length,
    );
    expect(opened.posted()).toEqual(posted);
  });

  test('runs what a dry run found, of the same window', async () => {
    const answers = { ...STARTED, ...dryRun() };
    const { page, posted } = await openFixed(chromium, '?view=reconcile', answers);
    await click('Run 5 events …')(page);
    await expectSeen(page, 'dialog p:not(.form-error)', [
      'Calls from 13:00:04 to 13:00:05 of tenant acme. Every missed event, and every event that has failed so far, will run as if it had just arrived. Events that have been handled will not run again.',
    ]);
    await confirm('Run 5 events?', 'Run')(page);
    expect(posted()).toEqual([
      `POST api/reconcile {"dryRun":false,"since":${String(NOW - 9)},"until":${String(NOW)}}`,
    ]);
  });

  test.each([
    ['redrive', DEAD, 'redrive'],
    ['removal', DEAD, 'remove'],
    ['erasure', DEAD, 'erase'],
    ['reconcile', '?view=reconcile', 'reconcile'],
  ])('stops the %s', async (name, query, path) => {
    const { page, posted } = await openFixed(chromium, query, { ...STARTED, ...running(name) });
    await click('Stop')(page);
    await page.locator('[aria-busy]').waitFor({ state: 'detached' });
    expect(posted()).toEqual([`POST api/${path}/stop {}`]);
  });

  test.each<[what: string, query: string, steps: Step[], address: string]>([
    ['opens a row', DEAD, [open('call:completed')], `${DEAD}&letter=l-1`],
    ['opens an example', DEAD, [open('Open an example', 1)], `${DEAD}&letter=l-2`],
    ['closes with Escape', `${DEAD}&letter=l-1`, [focused('.detail h3'), press('Escape')], DEAD],
    [
      ...(['does not close with Escape in a search', `${DEAD}&letter=l-1`] as const),
      [focused('.detail h3'), (page) => page.getByLabel('Search', { exact: true }).press('Escape')],
      `${DEAD}&letter=l-1`,
    ],
    [
      ...(['does not close with Escape in a filter', `${DEAD}&letter=l-1`] as const),
      [focused('.detail h3'), (page) => page.getByLabel('Reason', { exact: true }).press('Escape')],
      `${DEAD}&letter=l-1`,
    ],
    [
      ...(['does not close with the dialog that Escape closes', `${DEAD}&letter=l-1`] as const),
      [
        ...[focused('.detail h3'), click('Remove …'), press('Escape')],
        (page) => page.getByRole('dialog').waitFor({ state: 'detached' }),
      ],
      `${DEAD}&letter=l-1`,
    ],
    ['chooses a cause', `${DEAD}&offset=50`, [click('Show these')], `${DEAD}&cause=c-1`],
    ['shows all causes', `${DEAD}&cause=c-1`, [click('Show all')], DEAD],
    [
      'filters from the first page on',
      `${DEAD}&offset=50&letter=l-1`,
      [choose('Tenant', 'acme')],
      `${DEAD}&tenant=acme`,
    ],
    ['shows older letters', DEAD, [click('Older')], `${DEAD}&offset=50`],
    ['shows newer letters', `${DEAD}&offset=100`, [click('Newer')], `${DEAD}&offset=50`],
    ['shows the newest letters', `${DEAD}&offset=30`, [click('Newer')], DEAD],
    [
      'clears every filter of letters',
      `${DEAD}&text=x&cause=c-1&event=e&reason=invalid-payload&tenant=t`,
      [click('Clear')],
      DEAD,
    ],
    [
      'clears every filter of deliveries',
      `${LISTED}&text=x&result=failed&outcome=e&event=e&source=queue&tenant=t&call=call-1&cause=f-1&version=v&since=1&until=2`,
      [click('Clear')],
      LISTED,
    ],
    [
      'chooses a cause of failures',
      `${LISTED}&before=b`,
      [click('Show these')],
      `${LISTED}&cause=f-1`,
    ],
    ['shows all causes of failures', `${LISTED}&cause=f-1`, [click('Show all')], LISTED],
    [
      'shows older deliveries',
      `${LISTED}&event=e`,
      [click('Older')],
      `${LISTED}&event=e&before=b-1`,
    ],
    [
      'shows the latest deliveries',
      `${LISTED}&event=e&before=b-0`,
      [click('Latest')],
      `${LISTED}&event=e`,
    ],
    ['closes a call', `${LISTED}&call=call-1`, [click('Close the call')], LISTED],
    ['opens a call', LISTED, [open('call-1')], `${LISTED}&call=call-1&tenant=acme`],
    [
      'asks for a call',
      `${LISTED}&before=b`,
      [fill('Call id', ' call-1 '), press('Enter')],
      `${LISTED}&call=call-1`,
    ],
    [
      'chooses a time',
      LISTED,
      [fill('From', '2026-01-31T13:00'), press('Tab')],
      `${LISTED}&since=${String(NOW - 5_000)}`,
    ],
    [
      'drops a time that is emptied',
      `${LISTED}&event=e&until=${String(NOW)}`,
      [fill('To', ''), press('Tab')],
      `${LISTED}&event=e`,
    ],
    ['opens a delivery', `${LISTED}&event=e`, [open('queued')], `${LISTED}&event=e&delivery=w-3`],
    [
      'leaves the filters of a view behind',
      `${LISTED}&event=e&delivery=w-1`,
      [open(/^Dead letters/)],
      DEAD,
    ],
    ['goes to the figures', `${DEAD}&text=x`, [open('Now')], ''],
    ['changes the period', '?tenant=acme', [choose('Period', 'day')], '?tenant=acme&range=day'],
    ['changes the tenant', '?range=day', [choose('Tenant', 'globex')], '?range=day&tenant=globex'],
    [
      'goes to an outcome',
      '?range=day',
      [open('handler-failed')],
      `${LISTED}&outcome=handler-failed`,
    ],
    ['goes to a version', '', [open('2.4.1')], `${LISTED}&version=2.4.1`],
  ])('%s', async (_what, query, steps, address) => {
    const opened = await openFixed(chromium, query);
    for (const step of steps) await step(opened.page);
    await waitFor(() => opened.address() === address).catch(() => undefined);
    // What the page has now: what was pressed for nothing has had its effect by then, if it has one.
    const now = await opened.page.evaluate<string>('decodeURIComponent(location.search)');
    expect(now).toBe(address);
    if (address === query || query === '') return;
    // Back leads to where it was, in one step.
    await opened.page.goBack();
    expect(opened.address()).toBe(query);
  });

  test('each letter of a search is no step of Back, and what is chosen again is none either', async () => {
    const { page, address } = await openFixed(chromium, DEAD);
    await page.locator('table').first().waitFor();
    const steps = () => page.evaluate<number>('history.length');
    const before = await steps();
    await page.getByLabel('Search', { exact: true }).pressSequentially('abc');
    expect([address(), await steps()]).toEqual([`${DEAD}&text=abc`, before]);
    await open(/^Dead letters/)(page);
    await open(/^Dead letters/)(page);
    expect([address(), await steps()]).toEqual([DEAD, before + 1]);
  });

  test('the personal data of one letter is not shown in place of another one', async () => {
    const { page } = await openFixed(chromium, `${DEAD}&letter=l-1`, {
      'api/dead-letters/l-1/reveal': {
        ...LETTER,
        body: { ...LETTER.body, text: '"Ida"', masked: false },
      },
      'api/dead-letters/l-2': { ...LETTER, id: 'l-2', body: { ...LETTER.body, text: '"•"' } },
    });
    await click('Show personal data')(page);
    await page.locator('.letter-body').getByText('Ida').waitFor();
    await open('unknown event')(page);
    await expectSeen(page, '.letter-body code', ['"•"']);
  });

  test('that is refused says so where it was asked, and can be tried again', async () => {
    const { page, answer, posted } = await openFixed(chromium, `${DEAD}&letter=l-1`, {
      'api/redrive': refusal(409, 'already-running', 'Another one is running.'),
    });
    const redrive = page.getByRole('button', { name: 'Redrive', exact: true });
    await redrive.click();
    await expectSeen(page, '#alerts', ['Another one is running.', '<Close this message>']);
    expect([await redrive.isEnabled(), await redrive.getAttribute('aria-busy')]).toEqual([
      true,
      null,
    ]);
    await click('Redrive all …')(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Redrive', exact: true }).click();
    await expectSeen(page, 'dialog .form-error', ['Another one is running.']);
    answer(STARTED);
    await dialog.getByRole('button', { name: 'Redrive', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(posted()).toHaveLength(3);
    await click('Close this message')(page);
    await expectSeen(page, '#alerts', []);
  });

  test('beyond 500 selected letters selects no more, and says so', async () => {
    const many = Array.from({ length: 501 }, (_, at) => ({ ...LETTERS[1], id: `l-${String(at)}` }));
    const { page } = await openFixed(chromium, DEAD, {
      'api/dead-letters': { ...DEAD_LETTERS, letters: many },
    });
    await click('Select these 501')(page);
    await expectSeen(page, '.chosen-bar [role=status]', ['500 selected']);
    await expectSeen(page, '#alerts', [
      'You can select at most 500 dead letters.',
      '<Close this message>',
    ]);
  });
});
