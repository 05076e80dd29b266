import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import type { Tasks } from '../../src/api-types.ts';
import { ANSWERS, DEAD_LETTERS, LETTERS, OVERVIEW } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';
import {
  choose,
  click,
  confirm,
  dryRun,
  fill,
  open,
  press,
  running,
  STARTED,
  type Step,
} from './steps.ts';

const NOW_VIEW = '';
const DEAD = '?view=dead-letters';
const LISTED = '?view=deliveries';
const OVERVIEW_READ = 'GET api/overview?timeZone=Europe/Oslo';
const LETTERS_READ = 'GET api/dead-letters?limit=50';
const still = { isStill: true };

describeInChromium('what the page reads', (chromium) => {
  /** Lets so many seconds pass, in steps within which an answer arrives. */
  const seconds = async ({ pass }: { pass(ms: number): Promise<void> }, count: number) => {
    for (let halves = 0; halves < 2 * count; halves++) await pass(500);
  };
  /** The seconds between the last two reads of each path, if there were two. */
  const intervals = (asked: Map<string, number[]>) =>
    Object.fromEntries(
      [...asked].flatMap(([path, times]) => {
        const [before = Infinity, last = 0] = times.slice(-2);
        // The next read begins so long after the end of the one before it, which takes a moment.
        const step = last - before >= 10_000 ? 5_000 : 1_000;
        return before < last ? [[path, (Math.floor((last - before) / step) * step) / 1_000]] : [];
      }),
    );

  test.each<[what: string, query: string, within: number, every: Record<string, number>]>([
    [
      ...(['the figures', NOW_VIEW, 62] as const),
      { 'api/session': 60, 'api/tasks': 5, 'api/overview': 3, 'api/times': 10 },
    ],
    [
      ...(['deliveries', LISTED, 12] as const),
      { 'api/tasks': 5, 'api/deliveries': 3, 'api/failures': 10 },
    ],
    [
      ...(['a search, a call and a delivery'] as const),
      ...([`${LISTED}&event=e&call=call-1&delivery=w-1`, 32] as const),
      {
        ...{ 'api/tasks': 5, 'api/deliveries': 10, 'api/failures': 10 },
        ...{ 'api/calls/call-1': 10, 'api/deliveries/w-1': 30 },
      },
    ],
    [
      ...(['dead letters, and one of them', `${DEAD}&letter=l-1`, 32] as const),
      { 'api/tasks': 5, 'api/dead-letters': 5, 'api/dead-letters/l-1': 15 },
    ],
  ])('is read as often as it changes: %s', async (_what, query, within, every) => {
    const opened = await openFixed(chromium, query, {}, still);
    await seconds(opened, within);
    expect(intervals(await opened.askedAt())).toEqual(every);
  });

  test('tasks are read each second while one runs, and as seldom as before when it has ended', async () => {
    const opened = await openFixed(chromium, '?view=reconcile', running('reconcile'), still);
    await seconds(opened, 4);
    expect(intervals(await opened.askedAt())).toEqual({ 'api/tasks': 1 });
    opened.answer(ANSWERS);
    await seconds(opened, 8);
    expect(intervals(await opened.askedAt())).toEqual({ 'api/tasks': 5 });
  });

  const TO_REMOVE = { ...STARTED, 'api/dead-letters/l-1/remove': { removed: true } };

  test.each<[what: string, query: string, steps: readonly Step[], asked: readonly string[]]>([
    ['another tenant', NOW_VIEW, [choose('Tenant', 'globex')], [`${OVERVIEW_READ}&tenant=globex`]],
    ['any tenant again', '?tenant=acme', [choose('Tenant', '')], [OVERVIEW_READ]],
    ['another period', NOW_VIEW, [choose('Period', 'day')], ['GET api/times?range=day']],
    [
      ...(['the times of an event', NOW_VIEW] as const),
      [choose('Show the times of', 'call:completed')],
      ['GET api/times?range=hour&event=call:completed'],
    ],
    [
      ...(['another result', LISTED, [choose('Result', 'failed')]] as const),
      ['GET api/deliveries?result=failed'],
    ],
    [
      ...(['deliveries of a tenant', `${LISTED}&before=b`, [choose('Tenant', 'acme')]] as const),
      ['GET api/deliveries?tenant=acme', 'GET api/failures?tenant=acme'],
    ],
    ['a search', LISTED, [fill('Search', 'x')], ['GET api/deliveries?text=x']],
    ['older deliveries', LISTED, [click('Older')], ['GET api/deliveries?before=b-1']],
    [
      ...(['a cause of failures', LISTED, [click('Show these')]] as const),
      ['GET api/deliveries?cause=f-1'],
    ],
    ['a delivery', LISTED, [open('handler-failed')], ['GET api/deliveries/w-1']],
    [
      ...(['a call', `${LISTED}&call=c`, [fill('Call id', 'call-1'), press('Enter')]] as const),
      ['GET api/calls/call-1', 'GET api/deliveries?call=call-1'],
    ],
    [
      ...(['letters for another reason', `${DEAD}&offset=50`] as const),
      [choose('Reason', 'invalid-payload')],
      ['GET api/dead-letters?reason=invalid-payload&limit=50'],
    ],
    ['older letters', DEAD, [click('Older')], [`${LETTERS_READ}&offset=50`]],
    ['a cause', DEAD, [click('Show these')], ['GET api/dead-letters?cause=c-1&limit=50']],
    [
      'another letter',
      `${DEAD}&letter=l-2`,
      [open('call:completed')],
      ['GET api/dead-letters/l-1'],
    ],
    [
      ...(['another view', NOW_VIEW, [open('Deliveries')]] as const),
      ['GET api/deliveries', 'GET api/failures'],
    ],
    ['a view that reads nothing of its own', NOW_VIEW, [open('Reconcile')], []],
    [
      ...(['what was started', `${DEAD}&letter=l-1`, [click('Redrive')]] as const),
      ['POST api/redrive {"ids":["l-1"]}', 'GET api/tasks'],
    ],
    [
      ...(['what is left after a letter was removed', `${DEAD}&letter=l-1`] as const),
      [click('Remove …'), confirm('Remove this dead letter?', 'Remove')],
      ['POST api/dead-letters/l-1/remove {}', LETTERS_READ, 'GET api/tasks'],
    ],
  ])('is read at once, and nothing else: %s', async (_what, query, steps, wanted) => {
    const { page, asked, pass } = await openFixed(chromium, query, TO_REMOVE, still);
    asked.splice(0);
    for (const step of steps) {
      await step(page);
      await pass(0);
    }
    expect([...asked].sort()).toEqual([...wanted].sort());
  });

  test.each(['redrive', 'removal', 'erasure'])(
    'the letters are read anew when the %s goes on, and when it ends',
    async (name) => {
      const counted = (handled: number, more = {}) =>
        running(name, { counts: { handled }, ...more });
      for (const next of [counted(2), counted(1, { state: 'done' })]) {
        const opened = await openFixed(chromium, `${DEAD}&letter=l-1`, counted(1), still);
        const { asked, answer, pass } = opened;
        asked.splice(0);
        answer(next);
        await pass(1_100);
        const read = [...new Set(asked)].sort();
        expect(read).toEqual(['GET api/dead-letters/l-1', LETTERS_READ, 'GET api/tasks']);
      }
    },
  );

  test('the letters are read anew when more or fewer wait, and not when a reconcile run goes on', async () => {
    const waiting = (count: number) => {
      const { 'api/tasks': tasks } = running('reconcile', { counts: { missed: count } }) as {
        'api/tasks': object;
      };
      return { 'api/tasks': { ...tasks, waiting: 120 } };
    };
    const { asked, answer, pass } = await openFixed(chromium, DEAD, waiting(1), still);
    asked.splice(0);
    answer(waiting(2));
    await pass(1_100);
    expect([...new Set(asked)]).toEqual(['GET api/tasks']);
    answer({ 'api/tasks': { ...waiting(2)['api/tasks'], waiting: 121 } });
    await pass(1_100);
    expect([...new Set(asked)]).toEqual(['GET api/tasks', LETTERS_READ]);
  });

  const TILES = '.tiles > div:first-child';
  const HANDLED = ['Webhook deliveries: 2,000 0.7 per minute'];
  const LETTER = '.detail .facts > div:last-child';

  test.each<[what: string, query: string, step: Step, selector: string, lines: readonly string[]]>([
    ['the figures stay', NOW_VIEW, choose('Tenant', 'globex'), TILES, HANDLED],
    [
      ...(['the deliveries stay', LISTED, choose('Event', 'call:started')] as const),
      ...(['.listed .pages', ['60 searched, back to 30 Jan, 21:00 <Older>']] as const),
    ],
    [
      ...(['the letters stay', DEAD, choose('Event', 'call:started')] as const),
      ...(['.listed .pages', ['1 to 2 of 120 <Older>']] as const),
    ],
    ['another letter has no facts', `${DEAD}&letter=l-1`, open('unknown event'), LETTER, []],
    ['another delivery has none', `${LISTED}&delivery=w-1`, open('queued'), LETTER, []],
    [
      ...(['another event has no times', NOW_VIEW] as const),
      ...([choose('Show the times of', 'call:completed'), '.times', []] as [
        Step,
        string,
        string[],
      ]),
    ],
    [
      ...(['another call has no events', `${LISTED}&call=call-1`] as const),
      async (page) => {
        await fill('Call id', 'c')(page);
        await press('Enter')(page);
      },
      ...(['.call', []] as const),
    ],
  ])('while something else is on its way, %s', async (_what, query, step, selector, lines) => {
    const { page } = await openFixed(chromium, query);
    await page.locator(selector).first().waitFor();
    let answers = 0;
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route('**/api/**', async (route) => {
      answers += 1;
      await held;
      await route.fallback();
    });
    await step(page);
    while (answers === 0) await page.waitForTimeout(20);
    await expectSeen(page, selector, lines);
    if (lines.length > 0) await expectSeen(page, '.none', []);
    go();
  });

  test('a status and a list of before are not shown beside the error of another one', async () => {
    const none = { 'api/overview': OVERVIEW, 'api/dead-letters': DEAD_LETTERS };
    for (const [query, step, path, selector] of [
      [NOW_VIEW, choose('Tenant', 'globex'), 'api/overview', TILES],
      [
        DEAD,
        choose('Event', 'call:started'),
        'api/dead-letters',
        `#letter-${LETTERS[0]?.id ?? ''}`,
      ],
      [LISTED, choose('Event', 'call:started'), 'api/deliveries', '.listed tr'],
    ] as const) {
      const { page, answer } = await openFixed(chromium, query, none);
      await page.locator(selector).first().waitFor();
      answer({ [path]: 'lost' });
      await step(page);
      await page.locator(selector).first().waitFor({ state: 'detached' });
    }
  });

  const { redrive } = running('redrive', { state: 'done' })['api/tasks'] as Tasks;
  const RUN = { 'api/tasks': { ...(dryRun()['api/tasks'] as Tasks), redrive } };

  test.each<[path: string, query: string, within: number, selector: string]>([
    ['api/overview', NOW_VIEW, 3, '.tiles'],
    ['api/times', NOW_VIEW, 10, '.times'],
    ['api/deliveries', LISTED, 3, '.listed tbody tr'],
    ['api/failures', LISTED, 10, '[aria-label="Causes of failures"] tbody tr'],
    ['api/calls/call-1', `${LISTED}&call=call-1`, 10, '.call > li'],
    ['api/deliveries/w-1', `${LISTED}&delivery=w-1`, 30, '.detail .facts'],
    ['api/dead-letters', DEAD, 5, '.listed tbody tr'],
    ['api/dead-letters/l-1', `${DEAD}&letter=l-1`, 15, '.detail .facts'],
    ['api/tasks', '?view=reconcile', 5, '.run'],
    ['api/tasks', DEAD, 5, '#redrive-heading'],
  ])(
    'what cannot be read again stays, with the reason above it, until it can: %s',
    async (path, query, within, selector) => {
      const { page, pass, answer } = await openFixed(chromium, query, RUN, still);
      const count = () => page.locator(selector).count();
      const before = await count();
      expect(before).toBeGreaterThan(0);
      answer({ [path]: refusal(503, 'store-unavailable', 'The store failed.') });
      await pass(within * 1_000 + 500);
      await expectSeen(page, '#view .form-error', ['The store failed.']);
      expect(await count()).toBe(before);
      answer({ ...ANSWERS, ...RUN });
      await pass(within * 1_000 + 500);
      await expectSeen(page, '#view .form-error', []);
      expect(await count()).toBe(before);
    },
  );

  test('a letter that is gone meanwhile is shown no more', async () => {
    const { page, pass, answer } = await openFixed(chromium, `${DEAD}&letter=l-1`, {}, still);
    expect(await page.locator('.detail .facts').count()).toBe(1);
    answer({ 'api/dead-letters/l-1': refusal(422, 'unknown-letter', 'No such letter.') });
    await pass(15_500);
    await expectSeen(page, '.detail', [
      '# call:completed',
      '<Close>',
      'This dead letter no longer exists. It has been redriven, removed or erased.',
    ]);
  });
});
