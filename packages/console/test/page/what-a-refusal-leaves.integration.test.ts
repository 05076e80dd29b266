import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import { ANSWERS } from './fixed-answers.ts';
import { openFixed, refusal, type Answers } from './open-fixed.ts';
import { answer, click, dryRun, fill, FOUND, running, STARTING, type Step } from './steps.ts';

const DEAD = '?view=dead-letters';
const LETTER = `${DEAD}&letter=l-1`;
const SEARCH = 'api/dead-letters/search';
/** What changes or reveals something. */
const CHANGES = [
  ...[...STARTING, SEARCH, 'api/dead-letters/l-1/remove', 'api/dead-letters/l-1/reveal'],
];
const PERSON = 'Phone number, email address or name';
const search: readonly Step[] = [
  fill(PERSON, 'Ada'),
  click('Search for a person'),
  (page) => page.getByText('1 dead letter found').waitFor(),
];
const select: Step = (page) => page.getByLabel('Select unknown event').check();
const BAR = [
  '.chosen-bar',
  '1 selected <Redrive selected …> <Remove selected …> <Clear selection>',
] as const;
const FOUND_BAR = [
  '[aria-label="Dead letters of this person"]',
  'Select | Last failed | Event | Tenant | Reason | Error | Call',
  '{Select call:completed of call-1} | 12:53:05 | [call:completed](?view=dead-letters&letter=l-1) running | acme | The handler failed, after 7 attempts | No line. | [call-1](?view=deliveries&call=call-1&tenant=acme)',
] as const;

interface Refused {
  readonly query: string;
  /** What is answered until then, other than usual. */
  readonly answers?: Answers;
  /** What is done before the answers change. */
  readonly before: readonly Step[];
  /** What is refused. */
  readonly step: Step;
  /** Where the page says why. */
  readonly told: string;
  /** What is as it was before: a part of the page, and its lines. */
  readonly left: readonly [selector: string, ...lines: string[]];
}

const inDialog = (query: string, before: readonly Step[], title: string, go: string) => ({
  ...{ query, before, step: answer(title, go), told: 'dialog .form-error' },
});
const inNotice = (query: string, step: Step) => ({ query, before: [], step, told: '#alerts p' });

/** By what was asked for. */
const REFUSED: Readonly<Record<string, Refused>> = {
  'a redrive of selected letters': {
    ...inDialog(DEAD, [select, click('Redrive selected …')], 'Redrive 1 dead letter?', 'Redrive'),
    left: BAR,
  },
  'a removal of selected letters': {
    ...inDialog(DEAD, [select, click('Remove selected …')], 'Remove 1 dead letter?', 'Remove'),
    left: BAR,
  },
  'an erasure': {
    ...inDialog(
      ...([DEAD, [...search, click('Erase this person’s data …')]] as const),
      ...(['Erase this person’s data?', 'Erase'] as const),
    ),
    left: FOUND_BAR,
  },
  'the removal of one letter': {
    ...inDialog(LETTER, [click('Remove …')], 'Remove this dead letter?', 'Remove'),
    left: ['.detail h3', '# call:completed'],
  },
  'the redrive of one letter': {
    ...inNotice(LETTER, click('Redrive')),
    left: ['.detail > .buttons', '<Redrive> <Remove …>'],
  },
  'a look at personal data': {
    ...inNotice(LETTER, click('Show personal data')),
    left: ['.letter-body > p', '<Show personal data> The receiver will log that you looked.'],
  },
  'a search for a person': {
    ...{ query: DEAD, before: [fill(PERSON, 'Ada')], step: click('Search for a person') },
    ...{ told: '.filters[aria-label] + .form-error' },
    left: ['.filters[aria-label]', `{${PERSON}: Ada} <Search for a person>`],
  },
  'a search that goes on': {
    ...{ query: DEAD, before: search, step: click('Search older dead letters') },
    ...{ told: '.filters[aria-label] + .form-error', left: FOUND_BAR },
  },
  'a stop': {
    ...inNotice(DEAD, click('Stop')),
    answers: running('removal'),
    left: ['.section:has(#removal-heading) .buttons', '<Stop>'],
  },
  'a dry run': {
    ...inNotice('?view=reconcile', click('Dry run')),
    left: [
      '.run-now',
      '{Calls that began in the last: Calls of the last 6 hours of Calls of the last hour, Calls of the last 3 hours, Calls of the last 6 hours, Calls of the last 12 hours, Calls of the last 23 hours} <Dry run>',
    ],
  },
  'a run for real': {
    ...inDialog('?view=reconcile', [click('Run 5 events …')], 'Run 5 events?', 'Run'),
    answers: dryRun(),
    left: ['.run .buttons', '<Run 5 events …>'],
  },
};

describeInChromium('what was refused', (chromium) => {
  const ask = async ({ query, answers = {}, before, step, left }: Refused, refused: Answers) => {
    const opened = await openFixed(chromium, query, { [SEARCH]: FOUND, ...answers });
    for (const one of before) await one(opened.page);
    await opened.page.locator(left[0]).first().waitFor();
    opened.posted();
    opened.answer(refused);
    await step(opened.page);
    return opened;
  };

  test.each(Object.entries(REFUSED))(
    'is said where it was asked, once, and leaves the page as it was: %s',
    async (_what, refused) => {
      const no = refusal(409, 'already-running', 'Another one is running.');
      const answers = Object.fromEntries(CHANGES.map((path) => [path, no]));
      const { page, posted, asked } = await ask(refused, answers);
      const [selector, ...lines] = refused.left;
      await expectSeen(page, refused.told, ['Another one is running.']);
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
      await expectSeen(page, selector, lines);
      await expectSeen(page, '.form-error, .notice p', ['Another one is running.']);
      await expectSeen(page, '.connection', ['Live']);
      expect(posted()).toHaveLength(1);
      // What was asked for can be asked for again.
      if (refused.told.startsWith('dialog')) await page.keyboard.press('Escape');
      for (const one of refused.before.slice(-1)) await one(page);
      const posts = () => asked.filter((one) => one.startsWith('POST')).length;
      const before = posts();
      await refused.step(page);
      await waitFor(() => posts() > before);
    },
  );

  test.each(Object.entries(REFUSED).filter(([, { told }]) => told !== '#alerts p'))(
    'is told no more while it is asked for again, nor afterwards: %s',
    async (_what, refused) => {
      const no = refusal(409, 'already-running', 'Another one is running.');
      const { page, answer: change } = await ask(
        refused,
        Object.fromEntries(CHANGES.map((path) => [path, no])),
      );
      await expectSeen(page, refused.told, ['Another one is running.']);
      const tasks = ANSWERS['api/tasks'];
      change(Object.fromEntries(CHANGES.map((path) => [path, tasks])));
      change({ [SEARCH]: FOUND, 'api/dead-letters/l-1/remove': { removed: true } });
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      await page.route('**/api/**', async (route) => {
        if (route.request().method() === 'POST') await held;
        await route.fallback();
      });
      await refused.step(page);
      await page.locator('button[aria-busy]').first().waitFor();
      await expectSeen(page, refused.told, []);
      go();
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
      await expectSeen(page, refused.told, []);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
  );

  test.each(Object.entries(REFUSED))(
    'since the session has ended says so, and leaves the page as it was: %s',
    async (_what, refused) => {
      const paths = [...Object.keys(ANSWERS), ...CHANGES];
      const answers = Object.fromEntries(paths.map((path) => [path, refusal(401)]));
      const { page } = await ask(refused, answers);
      const [selector, ...lines] = refused.left;
      await expectSeen(page, refused.told, [
        'The response did not come from the console. Your session may have ended.',
      ]);
      await expectSeen(page, '.banner', [
        'Your session has ended, or you no longer have access to this console. This page is out of date.',
        '[Sign in](/login?to=ops)',
      ]);
      await expectSeen(page, '.connection', ['Signed out']);
      await expectSeen(page, selector, lines);
    },
  );
});
