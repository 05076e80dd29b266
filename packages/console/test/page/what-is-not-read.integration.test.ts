import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectColours, expectMarks } from '@call-webhooks/ui/test/marks';
import { ANSWERS, OVERVIEW, SESSION } from './fixed-answers.ts';
import { openFixed, type Answers } from './open-fixed.ts';
import { click, confirm, dryRun, fill, FOUND, running, type Step } from './steps.ts';

const { status } = OVERVIEW;
const dark = { colorScheme: 'dark' } as const;
const there =
  (selector: string): Step =>
  (page) =>
    page.locator(selector).first().waitFor();

/** What says something by its colour, in the view and around it. */
const COLOURED =
  '#view :is([data-tone], .tile-value, .status-line, .tag, .form-error, .error-text, .chart-mark, button)';
const AROUND = '.top [data-connection], .dot, .top button, .views a, .tab-count';
const DEAD = '?view=dead-letters';
const LETTER = `${DEAD}&letter=l-1`;
const DELIVERY = '?view=deliveries&delivery=w-1&call=call-1';
const SEARCH: Answers = { 'api/dead-letters/search': FOUND };
const search: readonly Step[] = [
  fill('Phone number, email address or name', 'Ada'),
  click('Search for a person'),
  there('[aria-label="Dead letters of this person"]'),
];

type Lines = readonly string[];
type Shown = [what: string, query: string, answers: Answers, steps: readonly Step[]];

describeInChromium('beside its texts', (chromium) => {
  const open = async (query: string, answers: Answers, steps: readonly Step[]) => {
    const { page } = await openFixed(chromium, query, answers, dark);
    for (const step of steps) await step(page);
    return page;
  };

  test.each<[...Shown, selector: string, marks: Lines, coloured: string, colours: Lines]>([
    [
      ...(['Now', '', {}, [there('.times')]] satisfies Shown),
      'body',
      [
        'role status span Live',
        'button Change between light and dark (button square) titled Light or dark',
        'icon theme of Change between light and dark',
        'nav Views',
        'role alert div',
        'main Now',
        'role alert p',
        'section Status',
        'role status div 3 things need attention: call:',
        'icon cross of 3 things need attention: call:completed fails.',
        'link More about this target=_blank rel=noreferrer',
        'table Status of events: Event, Tenant, State, Last arrived, Last acknowledged',
        'section Receiver ready',
        'icon check of Up',
        'icon minus of Unknown',
        'dl Webhook deliveries of the last hour',
        'section Times, the last hour',
        'table Times by event: Event, Handler runs end, Handler, p50 end minor, Handler, p95 end, Whole delivery, p95 end',
        'section By source, the last hour',
        'table Sources: Source, Total end, Handled end, Duplicates end, Dead-lettered end, In dead letters end, Failed end, Rejected end',
        'section Outcomes of all sources, the last hour',
        'table Outcomes: Outcome, Times end, What it means',
        'section Secrets',
        'table Secrets: Secret, Tenant, Last hour end, Last 26 hours end, Last used, What it means',
        'section Processes of the last 50 hours',
        'table Processes: Process, Version, Started, Last write, In flight at that time end, State',
        'role status div',
      ],
      `${AROUND}, ${COLOURED}`,
      [
        'connection live: muted',
        'dot live: muted on rgb(76, 195, 138)',
        'button square: text on raised',
        'view-link current: text, bottom accent',
        'view-link: muted, bottom ',
        'tab-count bad: wait on wait-soft',
        'form-error: bad on bad-soft',
        'status section bad: text on surface, left bad',
        'status-line bad: bad',
        'outcome-note bad: text on hover, left bad',
        'badge bad: bad on bad-soft',
        'outcome-note wait: text on hover, left wait',
        'badge good: good on good-soft',
        'badge muted: muted on hover',
        'badge wait: wait on wait-soft',
        'tile-value: text',
        'tile bad: text on surface',
        'tile-value bad: bad',
        'tile wait: text on surface',
        'tile-value wait: wait',
        'rect muted: muted',
        'rect bad: bad',
        'rect wait: wait',
        'rect good: good',
        'rect info: info',
        'rect odd: odd',
        'line chart-mark: accent',
        'legend good: good',
        'legend info: info',
        'legend muted: muted',
        'legend odd: odd',
        'legend bad: bad',
        'legend wait: wait',
        'badge info: info on info-soft',
      ],
    ],
    [
      ...([
        'a delivery and a call',
        DELIVERY,
        {},
        [there('.call li'), there('.detail dl')],
      ] satisfies Shown),
      '#view',
      [
        'main Deliveries',
        'section Call',
        'button Close the call (ghost) titled Close the call',
        'icon cross of Close the call',
        'role alert p',
        'section Delivery',
        'icon cross of Failed',
        'button Close (ghost) titled Close',
        'icon cross of Close',
        'link More about handler-failed target=_blank rel=noreferrer',
        'section Causes of failures',
        'table Causes of failures: Failures end, Cause, Still open, Events minor, First minor, Last, Actions',
        'button Show these (button small)',
        'input type=search Search autocomplete=off spellcheck=false',
        'input Call id autocomplete=off spellcheck=false',
        'input type=datetime-local From step=60 autocomplete=off spellcheck=false',
        'input type=datetime-local To step=60 autocomplete=off spellcheck=false',
        'button Clear (ghost)',
        'table Deliveries: Time, Outcome, Error, Event, Tenant, Call, Source minor, Attempt end minor, Took end minor',
        'icon cross of handler-failed',
        'code call-1 titled call-1',
        'icon check of handled',
        'icon check of queued',
        'icon minus of replayed',
        'button Older (button small)',
      ],
      COLOURED,
      [
        'ghost: muted',
        'form-error: bad on bad-soft',
        'li good: text, top good',
        'badge good: good on good-soft',
        'li bad: text, top bad',
        'badge bad: bad on bad-soft',
        'error-text: bad on bad-soft',
        'li muted: text, top line-strong',
        'badge muted: muted on hover',
        'li info: text, top info',
        'badge info: info on info-soft',
        'outcome-note bad: text on hover, left bad',
        'button small: text on raised',
        'badge wait: wait on wait-soft',
        'badge pale: odd on odd-soft',
      ],
    ],
    [
      ...(['a dead letter', LETTER, {}, [there('.detail dl'), click('Raw')]] satisfies Shown),
      '#view',
      [
        'main Dead letters',
        'role alert p',
        'section Dead letter',
        'button Close (ghost) titled Close',
        'icon cross of Close',
        'button Redrive (button primary)',
        'icon again of Redrive',
        'button Remove … (button)',
        'button Copy stack trace (ghost small) titled Copy stack trace',
        'icon copy of Copy stack trace',
        'pre Stack trace',
        'role region pre Stack trace',
        'focus Stack trace',
        'code call-1 titled call-1',
        'button Raw (ghost small)',
        'button Copy body (ghost small) titled Copy body',
        'icon copy of Copy body',
        'pre Body',
        'role region pre Body',
        'focus Body',
        'button Show personal data (button small)',
        'icon eye of Show personal data',
        'section Causes',
        'table Causes: Dead letters end, Cause, Events minor, First minor, Last, Actions',
        'button Show these (button small)',
        'button Redrive these 119 … (button small)',
        'button Remove these 119 … (button small)',
        'button Redrive this one … (button small)',
        'button Remove this one … (button small)',
        'form Search for a person',
        'input Phone number, email address or name required maxlength=300 autocomplete=off spellcheck=false',
        'button Search for a person (button) submit',
        'input type=search Search autocomplete=off spellcheck=false',
        'link How long personal data is kept target=_blank rel=noreferrer',
        'button Redrive all … (button)',
        'button Remove all … (button)',
        'button Select these 2 (ghost)',
        'table Dead letters: Select, Last failed, Event, Tenant, Reason minor, Error, Call',
        'input type=checkbox aria-label=Select call:completed of call-1',
        'span running titled A redrive is running this dead letter.',
        'input type=checkbox aria-label=Select unknown event',
        'button Older (button small)',
      ],
      COLOURED,
      [
        'form-error: bad on bad-soft',
        'ghost: muted',
        'button primary: rgb(255, 255, 255) on accent-fill',
        'button: text on raised',
        'outcome-note bad: text on hover, left bad',
        'ghost small: muted',
        'ghost small pressed: accent on chosen',
        'button small: text on raised',
        'tag: odd on odd-soft',
      ],
    ],
    [
      ...(['the letters of a person', DEAD, SEARCH, search] satisfies Shown),
      '.section:has(.table-area):not(:has([aria-label=Causes]))',
      [
        'section Dead letters of this person',
        'button Close the search (ghost) titled Close the search',
        'icon cross of Close the search',
        'role status p 1 dead letter found, 32 search',
        'table Dead letters of this person: Select, Last failed, Event, Tenant, Reason minor, Error, Call',
        'input type=checkbox aria-label=Select call:completed of call-1',
        'span running titled A redrive is running this dead letter.',
        'code call-1 titled call-1',
        'button Select these 1 (button small)',
        'button Search older dead letters (button small)',
        'button Erase this person’s data … (button danger small)',
      ],
      '.section button',
      [
        'button small: text on raised',
        'ghost: muted',
        'button danger small: rgb(255, 255, 255) on rgb(201, 55, 44)',
      ],
    ],
    [
      ...(['a redrive that runs', DEAD, running('redrive'), [there('progress')]] satisfies Shown),
      '.section:has(progress)',
      [
        'section Redrive in progress',
        'role status div 0 dead letters searched',
        'button Stop (button small)',
      ],
      '.section:has(progress) .badge',
      ['badge info: info on info-soft'],
    ],
    [
      ...(['a reconcile run', '?view=reconcile', dryRun(), [there('.run')]] satisfies Shown),
      '#view',
      [
        'main Reconcile',
        'role alert p',
        'section Missed events of tenant acme',
        'button Dry run (button primary)',
        'section Last reconcile run',
        'button Run 5 events … (button primary)',
      ],
      '#view .badge',
      [
        'badge good: good on good-soft',
        'badge info: info on info-soft',
        'badge bad: bad on bad-soft',
      ],
    ],
    [
      ...(['a question', LETTER, {}, [click('Remove …'), there('dialog')]] satisfies Shown),
      'dialog',
      [
        'dialog Remove this dead letter?',
        'role alert p',
        'button Cancel (button)',
        'button Remove (button danger) submit',
      ],
      'dialog button',
      ['button: text on raised', 'button danger: rgb(255, 255, 255) on rgb(201, 55, 44)'],
    ],
    [
      ...([
        'an erasure',
        DEAD,
        SEARCH,
        [...search, click('Erase this person’s data …'), there('dialog')],
      ] satisfies Shown),
      'dialog',
      [
        'dialog Erase this person’s data?',
        'input type=checkbox role=switch name=forgetKeys Also forget the keys of these events',
        'role alert p',
        'button Cancel (button)',
        'button Erase (button danger) submit',
      ],
      'dialog',
      ['dialog: text on raised'],
    ],
  ])(
    'screen readers, tables, buttons and eyes have what they need: %s',
    async (_what, query, answers, steps, selector, marks, coloured, colours) => {
      const page = await open(query, answers, steps);
      await expectMarks(page, selector, marks);
      await expectColours(page, coloured, colours);
    },
  );

  const muted = { attention: [], groups: [] };
  test.each<[tone: string, changes: Partial<typeof status>]>([
    ['good', { ...muted, events: [{ eventName: 'e', state: 'arrives' }] }],
    ['wait', { attention: status.attention.slice(2) }],
    ['muted', muted],
  ])('the status has a colour of its own: %s', async (tone, changes) => {
    const overview = { 'api/overview': { ...OVERVIEW, status: { ...status, ...changes } } };
    const page = await open('', overview, [there('.status')]);
    const [text, edge] = tone === 'muted' ? ['text', 'line-strong'] : [tone, tone];
    await expectColours(page, '.status, .status-line', [
      `status section ${tone}: text on surface, left ${edge}`,
      `status-line ${tone}: ${text}`,
    ]);
  });

  test('a lost connection, and that nothing can be changed, are in colour', async () => {
    const { page, answer, pass } = await openFixed(
      ...([chromium, '', { 'api/session': { ...SESSION, canWrite: false } }] as const),
      { ...dark, isStill: true },
    );
    answer(Object.fromEntries(Object.keys(ANSWERS).map((path) => [path, 'lost'])));
    await pass(3_500);
    await expectColours(page, '.banner, .connection, .dot, .read-only, .top-end .badge', [
      'connection lost: bad',
      'dot lost: bad on bad',
      'badge wait: wait on wait-soft',
      'banner: bad on bad-soft',
      'read-only: text on surface, left wait',
    ]);
  });

  test('what succeeded and what failed are told in different colours', async () => {
    const removes = { 'api/dead-letters/l-1/remove': { removed: true } };
    const page = await open(LETTER, removes, [
      ...[click('Redrive'), there('.notice-bad'), click('Remove …')],
      ...[confirm('Remove this dead letter?', 'Remove'), there('#notices .notice')],
    ]);
    await expectColours(page, '.notice', [
      'notice notice-bad: text on raised, left bad',
      'notice: text on raised, left good',
    ]);
  });

  test('columns of less importance go first, and then rows become blocks', async () => {
    const page = await open('?view=deliveries', {}, [there('.listed tbody tr')]);
    const shown: Record<number, unknown> = {};
    for (const width of [861, 860, 641, 640]) {
      const own = await page.evaluate<number>(
        `innerWidth - document.querySelector('.listed .table-area').clientWidth`,
      );
      await page.setViewportSize({ width: width + own, height: 900 });
      shown[width] = await page.evaluate(`(() => {
        const row = document.querySelector('.listed tbody tr');
        const cells = [...row.children].filter((one) => getComputedStyle(one).display !== 'none');
        return [getComputedStyle(row).display, getComputedStyle(cells[0], '::before').content,
          cells.map((one) => one.dataset.column).join(' ')].join(': ');
      })()`);
    }
    const [most, all] = ['Time Outcome Error Event Tenant Call', ' Source Attempt Took'];
    expect(shown).toEqual({
      861: `table-row: none: ${most}${all}`,
      860: `table-row: none: ${most}`,
      641: `table-row: none: ${most}`,
      640: `block: "Time": ${most}${all}`,
    });
  });

  test.each([
    [1100, 'sticky', true],
    [1099, 'fixed', false],
  ])('at %d px, a detail is %s, and beside its list: %p', async (width, position, isBeside) => {
    const page = await open(LETTER, {}, [there('.detail dl')]);
    await page.setViewportSize({ width, height: 900 });
    expect(
      await page.evaluate(`(() => {
        const [detail, list] = ['.detail', '.column'].map((one) => document.querySelector(one));
        return [getComputedStyle(detail).position,
          detail.getBoundingClientRect().left >= list.getBoundingClientRect().right];
      })()`),
    ).toEqual([position, isBeside]);
  });
});
