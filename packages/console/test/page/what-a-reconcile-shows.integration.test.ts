import { expect, test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import type { ReconcileTask, Session } from '../../src/api-types.ts';
import { ANSWERS, NOW, SESSION } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';

const VIEW = '?view=reconcile';
const MINUTE = 60_000;
const COUNTS = {
  ...{ seen: 90, missed: 4, handled: 5, known: 60, inDeadLetters: 6, failed: 7, ignored: 8 },
  ...{ skipped: 9, stoppedEarly: false },
};
const event = (callId: string, more: object) => ({
  ...{ callId, eventName: `call:${callId}`, at: NOW - 70 * MINUTE, missed: false },
  ...more,
});
const reason = { failedBefore: 0, wasRunning: null, from: null, until: null, outcomes: [] };

const RUN: ReconcileTask = {
  ...{ id: 'r', by: 'Bob', state: 'done', dryRun: true, tenant: 'globex', counts: COUNTS },
  ...{ startedAt: NOW - 3 * MINUTE, endedAt: NOW - MINUTE, savedAt: NOW - MINUTE },
  ...{ since: NOW - 300 * MINUTE, until: NOW - 10 * MINUTE, askedSince: NOW - 360 * MINUTE },
  events: [
    event('known', { state: 'handled' }),
    event('again', { state: 'failed' }),
    event('dead', { state: 'dead-lettered' }),
    event('runs', { state: 'running' }),
    event('lost', { missed: true, reason: 'rejected' }),
    event('gone', { missed: true, reason: 'single' }),
  ],
  reasons: [
    {
      ...{ ...reason, kind: 'rejected', missed: 3, outcomes: ['signature-mismatch', 'replayed'] },
      ...{ from: NOW - 80 * MINUTE, until: NOW - 60 * MINUTE },
      text: 'Rejected from <1769853600000> on with `signature-mismatch`.',
    },
    { ...reason, kind: 'unknown', missed: 1, text: 'The log does not tell.' },
  ],
};
/** The same for real. */
const REAL: ReconcileTask = {
  ...{ ...RUN, dryRun: false, by: null, reasons: [], counts: { ...COUNTS, missed: 1, failed: 1 } },
  events: [
    event('ran', { missed: true, outcome: 'handled' }),
    event('again', { state: 'failed', outcome: 'handler-failed' }),
    event('left', { outcome: 'duplicate' }),
    event('dead', { outcome: 'in-dead-letters' }),
    event('runs', { outcome: 'in-progress' }),
  ],
};

const withTask = (reconcile: object | null, more: object = {}) => ({
  'api/tasks': { ...ANSWERS['api/tasks'], reconcile, ...more },
});
const session = (changes: Partial<Session>) => ({ 'api/session': { ...SESSION, ...changes } });

describeInChromium('the view Reconcile', (chromium) => {
  test('shows a dry run: who, when, what was missed and why, and the events that will run first', async () => {
    const { page } = await openFixed(chromium, VIEW, withTask(RUN));
    await expectSeen(page, '#view', [
      '# Reconcile',
      'While a rule is paused, or no request reaches the receiver, events are lost. A reconcile run asks the service for its calls and finds each call:completed that never arrived. It looks for other events only if the recordings or toEvents option of reconcile adds them.',
      '# Missed events of tenant acme',
      '{Calls that began in the last: Calls of the last 6 hours of Calls of the last hour, Calls of the last 3 hours, Calls of the last 6 hours, Calls of the last 12 hours, Calls of the last 23 hours} <Dry run>',
      'A dry run changes nothing. It leaves out the last 10 minutes, because webhooks of these calls may still arrive. It also leaves out times from which the store remembers no events: a store in memory remembers nothing from before its process started.',
      '# Last reconcile run',
      '(good: Done) (info: Dry run) 12:57:05 by Bob. Calls from 08:00:05 to 12:50:05 of tenant globex. The store remembers no events from before that, so earlier calls are left out.',
      '90 calls checked. (bad: 4 missed)(good: 5 run now)(bad: 7 failed)(wait: 6 in the dead letters)(good: 60 already known)(muted: 8 without a handler)(muted: 9 calls skipped)',
      '3 events: Rejected from 11:00:00 on with signature-mismatch. [Show signature-mismatch](?view=deliveries&outcome=signature-mismatch&source=webhook&tenant=globex&since=1769856005000&until=1769857385000) [Show replayed](?view=deliveries&outcome=replayed&source=webhook&tenant=globex&since=1769856005000&until=1769857385000)',
      '1 event: The log does not tell.',
      '<Run 11 events …>',
      'Events (6) open',
      'Call | Event | Happened | The store knows | Why',
      '[lost](?view=deliveries&call=lost&tenant=globex) | call:lost | 11:50:05 | (bad: Missed) | rejected',
      '[gone](?view=deliveries&call=gone&tenant=globex) | call:gone | 11:50:05 | (bad: Missed) | lost in transit',
      '[again](?view=deliveries&call=again&tenant=globex) | call:again | 11:50:05 | (bad: Failing) |',
      '[known](?view=deliveries&call=known&tenant=globex) | call:known | 11:50:05 | (good: Handled) |',
      '[dead](?view=deliveries&call=dead&tenant=globex) | call:dead | 11:50:05 | (bad: Dead letter) |',
      '[runs](?view=deliveries&call=runs&tenant=globex) | call:runs | 11:50:05 | (info: Running) |',
    ]);
  });

  test('shows a run for real, with what was left alone, and offers no other', async () => {
    const { page } = await openFixed(chromium, VIEW, withTask({ ...REAL, askedSince: undefined }));
    await expectSeen(page, '.run', [
      '(good: Done) 12:57:05. Calls from 08:00:05 to 12:50:05 of tenant globex.',
      '90 calls checked. (bad: 1 missed)(good: 5 run now)(bad: 1 failed)(wait: 6 in the dead letters)(good: 60 already known)(muted: 8 without a handler)(muted: 9 calls skipped)',
      'Events (5) open',
      'Call | Event | Happened | Outcome',
      '[ran](?view=deliveries&call=ran&tenant=globex) | call:ran | 11:50:05 | (bad: Missed) handled',
      '[again](?view=deliveries&call=again&tenant=globex) | call:again | 11:50:05 | (bad: Failing)handler-failed',
      '[left](?view=deliveries&call=left&tenant=globex) | call:left | 11:50:05 | (good: Handled)',
      '[dead](?view=deliveries&call=dead&tenant=globex) | call:dead | 11:50:05 | (bad: Dead letter)',
      '[runs](?view=deliveries&call=runs&tenant=globex) | call:runs | 11:50:05 | (info: Running)',
    ]);
  });

  test.each([
    [
      'running',
      {},
      [
        '# Reconcile run in progress',
        '(info: Running) (info: Dry run) 12:57:05 by Bob. Calls from 08:00:05 to 12:50:05. The store remembers no events from before that, so earlier calls are left out.',
        '1 call checked. (bad: 4 missed)(good: 5 run now)(bad: 7 failed)(wait: 6 in the dead letters)(good: 60 already known)(muted: 8 without a handler)(muted: 9 calls skipped)',
        '<Stop>',
      ],
    ],
    [
      'stopped',
      {},
      [
        '# Last reconcile run',
        '(wait: Stopped) (info: Dry run) 12:57:05 by Bob. Calls from 08:00:05 to 12:50:05. The store remembers no events from before that, so earlier calls are left out.',
        'Before it ended: 1 call checked. (bad: 4 missed)(good: 5 run now)(bad: 7 failed)(wait: 6 in the dead letters)(good: 60 already known)(muted: 8 without a handler)(muted: 9 calls skipped)',
      ],
    ],
    [
      'failed',
      { error: 'HTTP 401. Check the apiToken', seen: 0 },
      [
        '# Last reconcile run',
        '(bad: Failed) (info: Dry run) 12:57:05 by Bob. Calls from 08:00:05 to 12:50:05. The store remembers no events from before that, so earlier calls are left out.',
        'HTTP 401. Check the apiToken. Start it again. Events that have been handled will not run twice.',
      ],
    ],
    [
      'failed',
      { error: 'HTTP 503', seen: 2 },
      [
        '# Last reconcile run',
        '(bad: Failed) (info: Dry run) 12:57:05 by Bob. Calls from 08:00:05 to 12:50:05. The store remembers no events from before that, so earlier calls are left out.',
        'Before it ended: 2 calls checked. (bad: 4 missed)(good: 5 run now)(bad: 7 failed)(wait: 6 in the dead letters)(good: 60 already known)(muted: 8 without a handler)(muted: 9 calls skipped)',
        'HTTP 503. Start it again. Events that have been handled will not run twice.',
      ],
    ],
    [
      'lost',
      {},
      [
        '# Last reconcile run',
        '(bad: Ended unexpectedly) (info: Dry run) 12:57:05 by Bob. Calls from 08:00:05 to 12:50:05. The store remembers no events from before that, so earlier calls are left out.',
        'Before it ended: 1 call checked. (bad: 4 missed)(good: 5 run now)(bad: 7 failed)(wait: 6 in the dead letters)(good: 60 already known)(muted: 8 without a handler)(muted: 9 calls skipped)',
        'The process that was doing the work has died or has lost its connection to the store. Start it again. Events that have been handled will not run twice.',
        "This receiver's store has no cursors, so processes cannot share their progress. This page shows only what the process that responded is doing.",
      ],
    ],
  ] as const)('shows a run that is %s: %j', async (state, more, lines) => {
    const { seen, ...error } = { seen: 1, ...more };
    const task = { ...RUN, ...error, state, events: [], reasons: [], tenant: undefined };
    const counts = { ...COUNTS, seen };
    const answers = withTask({ ...task, counts }, { shared: state !== 'lost' });
    const { page } = await openFixed(chromium, VIEW, answers);
    await expectSeen(page, '.section:has(.run)', lines);
    const start = page.getByRole('button', { name: 'Dry run' });
    expect(await start.isEnabled()).toBe(state !== 'running');
  });

  test('the events of a run that missed none are closed', async () => {
    const { page } = await openFixed(
      chromium,
      VIEW,
      withTask({ ...RUN, events: RUN.events.slice(0, 4) }),
    );
    await expectSeen(page, '.run summary', ['Events (4)']);
  });

  test.each([
    ['nothing was missed', { missed: 0, failed: 0 }, []],
    ['one failed so far', { missed: 0, failed: 1 }, ['<Run 1 event …>']],
    ['one was missed', { missed: 1, failed: 0 }, ['<Run 1 event …>']],
  ])('after a dry run in which %s, offers what it will run', async (_what, counts, lines) => {
    const task = { ...RUN, counts: { ...COUNTS, ...counts } };
    const { page } = await openFixed(chromium, VIEW, withTask(task));
    await page.locator('.run').waitFor();
    await expectSeen(page, '.run .buttons', lines);
  });

  test.each([
    [
      'before the first run',
      {},
      {},
      [
        '# Missed events of tenant acme',
        '{Calls that began in the last: Calls of the last 6 hours of Calls of the last hour, Calls of the last 3 hours, Calls of the last 6 hours, Calls of the last 12 hours, Calls of the last 23 hours} <Dry run>',
        'A dry run changes nothing. It leaves out the last 10 minutes, because webhooks of these calls may still arrive. It also leaves out times from which the store remembers no events: a store in memory remembers nothing from before its process started.',
        'No run yet',
        'Start with a dry run. It shows which events were missed, and runs none of them. With startReconciler, the receiver reconciles by itself.',
      ],
    ],
    [
      'to somebody who may only read',
      { canWrite: false },
      {},
      [
        'Read-only. You can view this console, but you cannot redrive, remove, reconcile or show personal data. If you need to, ask the person who runs this receiver.',
        'No run yet',
        'Runs that other people start will appear here. With startReconciler, the receiver reconciles by itself.',
      ],
    ],
    [
      'without tenants',
      { reconcileTenant: null },
      {},
      [
        '# Missed events',
        '{Calls that began in the last: Calls of the last 6 hours of Calls of the last hour, Calls of the last 3 hours, Calls of the last 6 hours, Calls of the last 12 hours, Calls of the last 23 hours} <Dry run>',
        'A dry run changes nothing. It leaves out the last 10 minutes, because webhooks of these calls may still arrive. It also leaves out times from which the store remembers no events: a store in memory remembers nothing from before its process started.',
        'No run yet',
        'Start with a dry run. It shows which events were missed, and runs none of them. With startReconciler, the receiver reconciles by itself.',
      ],
    ],
    [
      'without a client',
      { reconcile: false },
      {},
      [
        'Reconciling is not configured',
        'To find missed events, the console has to ask the service for its calls. Pass reconcile: { client } to createConsole, with a client from @call-webhooks/client.',
      ],
    ],
    ['without an answer', {}, { 'api/tasks': refusal(503, 'store-unavailable', 'No.') }, ['No.']],
  ] as const)('says what to do %s', async (_what, changes, answers, lines) => {
    const { page } = await openFixed(chromium, VIEW, { ...session(changes), ...answers });
    await expectSeen(page, '#view > *:not(.view-head)', lines);
  });

  test('offers no run to somebody who may only read', async () => {
    const answers = { ...session({ canWrite: false }), ...withTask(RUN) };
    const { page } = await openFixed(chromium, VIEW, answers);
    await page.locator('.run').waitFor();
    await expectSeen(page, '#view button', []);
  });
});
