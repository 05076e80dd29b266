import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import type { Session, Tasks } from '../../src/api-types.ts';
import { ANSWERS, DEAD_LETTERS, NOW, SESSION } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';

const VIEW = '?view=dead-letters';
const MINUTE = 60_000;

const letters = (changes: object) => ({
  'api/dead-letters': { ...DEAD_LETTERS, ...changes },
});
const session = (changes: Partial<Session>) => ({ 'api/session': { ...SESSION, ...changes } });
const tasks = (changes: object) => ({ 'api/tasks': { ...ANSWERS['api/tasks'], ...changes } });

const TASK = {
  ...{ id: 't', by: 'Bob', startedAt: NOW - 9 * MINUTE, endedAt: NOW - 2 * MINUTE },
  ...{ savedAt: NOW - 4 * MINUTE, countedAt: NOW - 8 * MINUTE, retries: 2, total: 120 },
};
const REDRIVEN = {
  ...{ handled: 21, queued: 2, failed: 3, alreadyHandled: 4, unknown: 5, skipped: 6, notFound: 7 },
};
const ERASED = {
  ...{ deadLetters: 1, deadJobs: 0, doneJobs: 0, waitingJobs: 0, outcomes: 2, keys: 3, running: 4 },
  leftWaiting: 0,
};

describeInChromium('the view Dead letters', (chromium) => {
  test('shows causes, filters, actions and every part of a row in its place', async () => {
    const { page, asks } = await openFixed(chromium, VIEW);
    await expectSeen(page, '#view', [
      '# Dead letters',
      '# Causes',
      'Dead letters | Cause | Events | First | Last | Actions',
      '119 | No line. [Open an example](?view=dead-letters&letter=l-1) | call:completed, call:started | 22 Jan, 13:00 | 12:53:05 | <Show these> <Redrive these 119 …> <Remove these 119 …>',
      '1 | The schema says no. [Open an example](?view=dead-letters&letter=l-2) | unknown | 30 Jan, 13:00 | 30 Jan, 13:00 | <Show these> <Redrive this one …> <Remove this one …>',
      '{Phone number, email address or name: Searches the bodies of dead letters} <Search for a person>',
      '{Search: Call, key or error} {Event: Any event of Any event, call:completed, call:started} {Reason: Any reason of Any reason, The handler failed, Invalid payload} {Tenant: Any tenant of Any tenant, acme, globex}',
      'The oldest dead letter failed 9 d ago. Dead letters are kept for 30 d (keepFor). [How long personal data is kept](https://docs.test/retention)',
      '# 120 dead letters waiting, newest first',
      '<Redrive all …> <Remove all …> <Select these 2>',
      'Select | Last failed | Event | Tenant | Reason | Error | Call',
      '{Select call:completed of call-1} | 12:53:05 | [call:completed](?view=dead-letters&letter=l-1) running | acme | The handler failed, after 7 attempts | No line. | [call-1](?view=deliveries&call=call-1&tenant=acme)',
      '{Select unknown event} | 30 Jan, 13:00 | [unknown event](?view=dead-letters&letter=l-2) | | Invalid payload, after 1 attempt | The schema says no. | –',
      '1 to 2 of 120 <Older>',
    ]);
    await asks('GET api/dead-letters?limit=50');
  });

  test('shows no actions to somebody who may only read', async () => {
    const { page } = await openFixed(chromium, `${VIEW}&letter=l-1`, {
      ...session({ canWrite: false }),
      ...tasks({ redrive: { ...TASK, state: 'running', counts: REDRIVEN } }),
    });
    await page.locator('.detail .facts').waitFor();
    await expectSeen(page, 'button', [
      '<Change between light and dark>',
      '<Close>',
      '<Copy stack trace>',
      '<Raw>',
      '<Copy body>',
      '<Show these>',
      '<Show these>',
      '<Older>',
    ]);
    await expectSeen(page, '.letter-body > p', ['Personal data is masked.']);
  });

  test.each([
    [
      'a time limit',
      {},
      [
        'The oldest dead letter failed 9 d ago. Dead letters are kept for 30 d (keepFor). [How long personal data is kept](https://docs.test/retention)',
      ],
    ],
    [
      'no time limit',
      { keepFor: null },
      [
        'The oldest dead letter failed 9 d ago. Dead letters are kept without a time limit, because keepFor is not set. [How long personal data is kept](https://docs.test/retention)',
      ],
    ],
    [
      'a limit that the queue knows',
      { keepFor: undefined },
      [
        'The oldest dead letter failed 9 d ago. The keepFor option of the queue decides how long dead jobs are kept. [How long personal data is kept](https://docs.test/retention)',
      ],
    ],
    [
      'a time limit, while there are none',
      { oldestAt: null },
      [
        'Dead letters are kept for 30 d (keepFor). [How long personal data is kept](https://docs.test/retention)',
      ],
    ],
    [
      'a limit that the queue knows, while there are none',
      { keepFor: undefined, oldestAt: null },
      [
        'The keepFor option of the queue decides how long dead jobs are kept. [How long personal data is kept](https://docs.test/retention)',
      ],
    ],
  ] as const)('says how long letters are kept: %s', async (_what, changes, lines) => {
    const { page } = await openFixed(chromium, VIEW, letters(changes));
    await expectSeen(page, '.column > .hint', lines);
  });

  test.each([
    [
      'running',
      [
        '# Removal in progress',
        '(info: Running) 1 min ago',
        '{Dead letters that were removed} Counting … (muted: 1 not found)',
        '<Stop>',
        '# Redrive in progress',
        '(info: Running) by Bob, 9 min ago',
        'Cause: “No line.”',
        '{Dead letters that were run 48/120} 48 of 120 12 per minute, about 6 min left (good: 21 handled)(info: 2 requeued)(bad: 3 failed again)(good: 4 handled before)(wait: 5 without a result in time)(muted: 6 skipped)(muted: 7 not found) 2 store calls failed and had to be retried.',
        '<Stop>',
        '# Erasure in progress',
        '(info: Running) by Bob, 2 h ago',
        '{Erasing} 77 dead letters searched (good: 1 erased from the dead letters)(good: 2 erased from the outcome log)(good: 3 erased from the keys)(wait: 4 skipped, because a redrive is running) 1 store call failed and had to be retried.',
        '<Stop>',
      ],
    ],
    [
      'done',
      [
        '# Last removal',
        '(good: Done) 2 min ago',
        'It ended before they were counted. (muted: 1 not found)',
        '# Last redrive',
        '(good: Done) by Bob, 2 min ago',
        'Cause: “No line.”',
        '48 of 120 (good: 21 handled)(info: 2 requeued)(bad: 3 failed again)(good: 4 handled before)(wait: 5 without a result in time)(muted: 6 skipped)(muted: 7 not found) 2 store calls failed and had to be retried.',
        '# Last erasure',
        '(good: Done) by Bob, 2 min ago',
        '(good: 1 erased from the dead letters)(good: 2 erased from the outcome log)(good: 3 erased from the keys)(wait: 4 skipped, because a redrive is running) 1 store call failed and had to be retried.',
      ],
    ],
    [
      'stopped',
      [
        '# Last removal',
        '(wait: Stopped) 2 min ago',
        'It ended before they were counted. (muted: 1 not found)',
        '# Last redrive',
        '(wait: Stopped) by Bob, 2 min ago',
        'Cause: “No line.”',
        '48 of 120 (good: 21 handled)(info: 2 requeued)(bad: 3 failed again)(good: 4 handled before)(wait: 5 without a result in time)(muted: 6 skipped)(muted: 7 not found) 2 store calls failed and had to be retried.',
        '# Last erasure',
        '(wait: Stopped) by Bob, 2 min ago',
        '(good: 1 erased from the dead letters)(good: 2 erased from the outcome log)(good: 3 erased from the keys)(wait: 4 skipped, because a redrive is running) 1 store call failed and had to be retried.',
      ],
    ],
    [
      'failed',
      [
        '# Last removal',
        '(bad: Failed) 2 min ago',
        'It ended before they were counted. (muted: 1 not found)',
        'The store failed. Dead letters that have not been removed are still here. Remove them again.',
        '# Last redrive',
        '(bad: Failed) by Bob, 2 min ago',
        'Cause: “No line.”',
        '48 of 120 (good: 21 handled)(info: 2 requeued)(bad: 3 failed again)(good: 4 handled before)(wait: 5 without a result in time)(muted: 6 skipped)(muted: 7 not found) 2 store calls failed and had to be retried.',
        'The store failed. Dead letters that have not run are still here. Redrive them again.',
        '# Last erasure',
        '(bad: Failed) by Bob, 2 min ago',
        '(good: 1 erased from the dead letters)(good: 2 erased from the outcome log)(good: 3 erased from the keys)(wait: 4 skipped, because a redrive is running) 1 store call failed and had to be retried.',
        'The store failed. Anything that has not been erased is still stored. Search for the person again, and erase the rest.',
      ],
    ],
    [
      'lost',
      [
        '# Last removal',
        '(bad: Ended unexpectedly) 2 min ago',
        'It ended before they were counted. (muted: 1 not found)',
        'The process that was doing the work has died or has lost its connection to the store. Dead letters that have not been removed are still here. Remove them again.',
        "This receiver's store has no cursors, so processes cannot share their progress. This page shows only what the process that responded is doing.",
        '# Last redrive',
        '(bad: Ended unexpectedly) by Bob, 2 min ago',
        'Cause: “No line.”',
        '48 of 120 (good: 21 handled)(info: 2 requeued)(bad: 3 failed again)(good: 4 handled before)(wait: 5 without a result in time)(muted: 6 skipped)(muted: 7 not found) 2 store calls failed and had to be retried.',
        'The process that was doing the work has died or has lost its connection to the store. Dead letters that have not run are still here. Redrive them again.',
        "This receiver's store has no cursors, so processes cannot share their progress. This page shows only what the process that responded is doing.",
        '# Last erasure',
        '(bad: Ended unexpectedly) by Bob, 2 min ago',
        '(good: 1 erased from the dead letters)(good: 2 erased from the outcome log)(good: 3 erased from the keys)(wait: 4 skipped, because a redrive is running) 1 store call failed and had to be retried.',
        'The process that was doing the work has died or has lost its connection to the store. Anything that has not been erased is still stored. Search for the person again, and erase the rest.',
        "This receiver's store has no cursors, so processes cannot share their progress. This page shows only what the process that responded is doing.",
      ],
    ],
  ] as const)('shows tasks that are %s, the latest first', async (state, lines) => {
    const error = state === 'failed' && { error: 'The store failed..' };
    const of = { ...TASK, state, ...error, ...(state === 'running' && { endedAt: null }) };
    const shown: Partial<Tasks> = {
      redrive: { ...of, counts: REDRIVEN, cause: 'No line.' },
      removal: {
        ...{ ...of, startedAt: NOW - MINUTE, total: null, countedAt: null, retries: 0, by: null },
        counts: { removed: 0, notFound: 1 },
      },
      erasure: {
        ...{ ...of, startedAt: NOW - 99 * MINUTE, retries: 1, checked: 77, forgetKeys: true },
        counts: ERASED,
      },
      shared: state !== 'lost',
    };
    const { page } = await openFixed(chromium, VIEW, tasks(shown));
    await expectSeen(page, '.section:has(h3[id$=-heading])', lines);
    const isFree = state !== 'running';
    await expect(page.getByRole('button', { name: 'Redrive all …' }).isEnabled()).resolves.toBe(
      isFree,
    );
  });

  test.each([
    [
      'slow',
      4,
      { handled: 3 },
      ['{Dead letters that were run 3/4} 3 of 4 1 per minute, about 1 min left (good: 3 handled)'],
    ],
    [
      'fast',
      1_000,
      { handled: 720 },
      [
        '{Dead letters that were run 720/1000} 720 of 1,000 3 per second, about 2 min left (good: 720 handled)',
      ],
    ],
    [
      'one alone',
      4,
      { failed: 1 },
      ['{Dead letters that were run 1/4} 1 of 4 (bad: 1 failed again)'],
    ],
  ] as const)('says how fast a redrive is: %s', async (_what, total, counts, lines) => {
    const none = Object.fromEntries(Object.keys(REDRIVEN).map((name) => [name, 0]));
    const task = { ...TASK, total, retries: 0, state: 'running', counts: { ...none, ...counts } };
    const { page } = await openFixed(chromium, VIEW, tasks({ redrive: task }));
    await expectSeen(page, '.progress', lines);
  });

  test.each([
    [
      'of a queue, too many to search',
      '&text=x',
      { searched: 2 },
      'jobs',
      [
        '# 120 dead letters matching, newest first',
        'These are the dead jobs of the queue. A redrive requeues them, and the queue workers run them. Only the newest 2 are searched and grouped. Narrow the filters to see older ones.',
        '<Redrive all that match …> <Remove all that match …> <Select these 2>',
        'Select | Last failed | Event | Tenant | Reason | Error | Call',
        '{Select call:completed of call-1} | 12:53:05 | [call:completed](?view=dead-letters&text=x&letter=l-1) running | acme | The handler failed, after 7 attempts | No line. | [call-1](?view=deliveries&call=call-1&tenant=acme)',
        '{Select unknown event} | 30 Jan, 13:00 | [unknown event](?view=dead-letters&text=x&letter=l-2) | | Invalid payload, after 1 attempt | The schema says no. | –',
      ],
    ],
    [
      'on a later page',
      '&offset=100',
      { total: 102 },
      'store',
      [
        '# 102 dead letters waiting, newest first',
        '<Redrive all …> <Remove all …> <Select these 2>',
        'Select | Last failed | Event | Tenant | Reason | Error | Call',
        '{Select call:completed of call-1} | 12:53:05 | [call:completed](?view=dead-letters&offset=100&letter=l-1) running | acme | The handler failed, after 7 attempts | No line. | [call-1](?view=deliveries&call=call-1&tenant=acme)',
        '{Select unknown event} | 30 Jan, 13:00 | [unknown event](?view=dead-letters&offset=100&letter=l-2) | | Invalid payload, after 1 attempt | The schema says no. | –',
        '101 to 102 of 102 <Newer>',
      ],
    ],
    [
      'in the middle',
      '&offset=50',
      {},
      'store',
      [
        '# 120 dead letters waiting, newest first',
        '<Redrive all …> <Remove all …> <Select these 2>',
        'Select | Last failed | Event | Tenant | Reason | Error | Call',
        '{Select call:completed of call-1} | 12:53:05 | [call:completed](?view=dead-letters&offset=50&letter=l-1) running | acme | The handler failed, after 7 attempts | No line. | [call-1](?view=deliveries&call=call-1&tenant=acme)',
        '{Select unknown event} | 30 Jan, 13:00 | [unknown event](?view=dead-letters&offset=50&letter=l-2) | | Invalid payload, after 1 attempt | The schema says no. | –',
        '51 to 52 of 120 <Newer> <Older>',
      ],
    ],
    [
      'on a page that is gone',
      '&offset=50',
      { letters: [], total: 40 },
      'store',
      [
        '# 40 dead letters waiting, newest first',
        '<Redrive all …> <Remove all …>',
        'No older dead letters',
        'The others have been redriven or removed. Choose Newer to see the rest.',
        '<Newer>',
      ],
    ],
    [
      'only one',
      '',
      { letters: DEAD_LETTERS.letters.slice(1), total: 1 },
      'store',
      [
        '# 1 dead letter waiting, newest first',
        '<Redrive all …> <Remove all …>',
        'Select | Last failed | Event | Reason | Error | Call',
        '{Select unknown event} | 30 Jan, 13:00 | [unknown event](?view=dead-letters&letter=l-2) | Invalid payload, after 1 attempt | The schema says no. | –',
      ],
    ],
    [
      'none',
      '',
      { letters: [], total: 0, causes: [] },
      'store',
      [
        'No dead letters',
        'An event appears here after its handler has failed maxAttempts times, or if its payload can never be handled. Fix the cause, then redrive it. It will run as if it had just arrived.',
      ],
    ],
    [
      'none that match',
      '&event=e',
      { letters: [], total: 0, causes: [] },
      'store',
      ['No dead letter matches', 'Change or clear the filters.'],
    ],
  ] as const)('shows a list: %s', async (_what, more, changes, kind, lines) => {
    const { page } = await openFixed(chromium, `${VIEW}${more}`, {
      ...letters(changes),
      ...session({ deadLetters: kind }),
    });
    await expectSeen(page, '.column > *:not(.section, form, search, .hint:has(a))', lines);
  });

  test('says how to have dead letters, and shows an error in its words', async () => {
    const without = await openFixed(chromium, VIEW, session({ deadLetters: null }));
    await expectSeen(without.page, '#view', [
      '# Dead letters',
      'No dead-letter store',
      'Without deadLetter, an event that keeps failing is retried until the service pauses the rule. Give the receiver a dead-letter store, and pass the same store to createConsole as deadLetters.',
    ]);
    const failing = await openFixed(chromium, VIEW, {
      'api/dead-letters': refusal(503, 'store-unavailable', 'No letters now.'),
      'api/tasks': refusal(503, 'store-unavailable', 'No tasks now.'),
    });
    await expectSeen(failing.page, '#view > .form-error', ['No tasks now.']);
    await expectSeen(failing.page, '.column', [
      '{Phone number, email address or name: Searches the bodies of dead letters} <Search for a person>',
      '{Search: Call, key or error} {Event: Any event of Any event} {Reason: Any reason of Any reason, The handler failed, Invalid payload}',
      'No letters now.',
    ]);
  });
});
