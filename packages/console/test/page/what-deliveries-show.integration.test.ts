import { test } from '@jest/globals';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import type { DeliveryRow } from '../../src/api-types.ts';
import { CALL, DELIVERIES, NOW, ROWS, SESSION } from './fixed-answers.ts';
import { openFixed, refusal } from './open-fixed.ts';

const VIEW = '?view=deliveries';
const HOUR = 3_600_000;
/** Only what such a row must have. */
const BARE: DeliveryRow = {
  ...{ id: 'w-1', process: 'p1', at: NOW - HOUR, durationMs: 1, source: 'webhook' },
  ...{ outcome: 'handled', result: 'handled' },
};
const none = { deliveries: [], searched: 1_234, searchedTo: NOW - HOUR, keptSince: null };

describeInChromium('the view Deliveries', (chromium) => {
  test('shows the failures, the filters and every part of a row in its place', async () => {
    const { page, asks } = await openFixed(chromium, VIEW);
    await expectSeen(page, '#view', [
      '# Deliveries',
      'Everything that finished in any process, including queued runs, redrives and reconcile runs.',
      '# Causes of failures',
      '12 failures since 30 Jan, 11:00',
      'Failures | Cause | Still open | Events | First | Last | Actions',
      '6 | No line. | 4 of 5 events | call:completed, unknown | 08:00:05 | 12:59:05 | <Show these>',
      '3 | No key. | events unknown | unknown | 11:00:05 | 12:00:05 | <Show these>',
      '2 | No peek. | 1 event | unknown | 10:00:05 | 12:00:05 | <Show these>',
      '1 | Was down. | 0 of 1 event | call:started | 09:00:05 | 09:00:05 | <Show these>',
      "{Search: Event, id, key, outcome or error} {Call id: Shows the call's three events} {From: } {To: } {Result: Any result of Any result, Handled, Duplicate, Ignored, Dead letter, In dead letters, Failed, Rejected} {Outcome: Any outcome of Any outcome, handled, duplicate, ignored, queued, dead-lettered, in-dead-letters, missing-header, malformed-header, timestamp-out-of-tolerance, signature-mismatch, method-not-allowed, body-timeout, replayed, body-too-large, unsupported-encoding, invalid-payload, handler-failed, body-already-parsed, in-progress, deadline, overloaded, store-unavailable, secret-unavailable, shutting-down} {Event: Any event of Any event, call:completed, call:started} {Source: Any source of Any source, Webhook deliveries, Queued runs, Redrives, Reconcile runs} {Tenant: Any tenant of Any tenant, acme} {Version: Any version of Any version, 2.4.1}",
      '# Newest first',
      'The log goes back to 29 Jan, 12:00. The log keeps the deliveries of the last 50 hours: at most 10,000 failures and 20,000 others.',
      'Time | Outcome | Error | Event | Tenant | Call | Source | Attempt | Took',
      '13:00:00 | (bad: [handler-failed](?view=deliveries&delivery=w-1)) | No line. | call:completed | acme | [call-1](?view=deliveries&call=call-1&tenant=acme) | Webhook | 2 | 1.3 s',
      '12:58:05 | (good: [handled](?view=deliveries&delivery=w-2)) late | – | call:started | – | [call-1](?view=deliveries&call=call-1) | Webhook | – | < 1 ms',
      '10:00:05 | (good: [queued](?view=deliveries&delivery=w-3)) | – | unknown | – | – | Webhook | – | 1 min',
      '10:00:05 | (good: [handled](?view=deliveries&delivery=w-3)) | – | unknown | – | – | Queue | 1 | 20 ms',
      '30 Jan, 23:00 | (wait: [replayed](?view=deliveries&delivery=w-4)) | – | unknown | – | – | Webhook | – | 20 ms',
      '30 Jan, 22:00 | (pale: [in-dead-letters](?view=deliveries&delivery=w-5)) | – | unknown | – | – | Redrive | – | 20 ms',
      '30 Jan, 21:00 | (muted: [ignored](?view=deliveries&delivery=w-6)) | – | unknown | – | – | Reconcile run | – | 20 ms',
      '60 searched, back to 30 Jan, 21:00 <Older>',
    ]);
    await asks('GET api/deliveries', 'GET api/failures');
  });

  test('shows a call over its events, each with its state and what to do', async () => {
    const { page, asks } = await openFixed(chromium, `${VIEW}&call=call-1&tenant=acme`);
    await expectSeen(page, '.section:has(.call)', [
      '# Call',
      'call-1 <Close the call>',
      'good:',
      'call:started (good: Handled)',
      'The event has been handled.',
      'bad:',
      'call:completed (bad: Failing)',
      'Its last attempt failed. The queue will run it again.',
      'The handler failed: No line.',
      '1 outcome in the log:',
      '12:00:05 handler-failed attempt 1, from the queue',
      'muted:',
      'call:recording-available (muted: Not seen)',
      'No process has seen this event, or the store no longer remembers it.',
      'bad:',
      'e-dead (bad: Dead letter)',
      'Its last attempt failed, and its dead letter is waiting to be redriven.',
      'The schema says no.',
      '1 outcome in the log:',
      '11:00:05 handler-failed',
      '[Open the dead letter](?view=dead-letters&letter=l-2)',
      'muted:',
      'e-gone (muted: No dead letter)',
      'Its last attempt failed, but it is not among the dead letters. It has been removed, or it belongs to a queue, so it cannot be redriven.',
      'good:',
      'e-fixed (good: Handled)',
      'The event has been handled.',
      'No line.',
      '[Open the dead letter](?view=dead-letters&letter=l-1)',
      'info:',
      'e-queued (info: Queued)',
      'A worker has not finished it yet.',
      '1 outcome in the log:',
      '12:00:05 queued',
      'muted:',
      'e-unknown (muted: Unknown)',
      'Choose a tenant: the store looks up events per tenant. A store without peek() cannot look them up.',
      'info:',
      'e-running (info: Running)',
      'A handler is running now.',
    ]);
    await asks('GET api/calls/call-1?tenant=acme');
    await asks('GET api/deliveries?tenant=acme&call=call-1');
    await asks('GET api/failures?tenant=acme');
  });

  test('shows a call also where there is no log', async () => {
    const { page } = await openFixed(chromium, `${VIEW}&call=call-1`, {
      'api/session': { ...SESSION, log: false },
      'api/calls/call-1': { ...CALL, events: CALL.events.slice(0, 1) },
    });
    await expectSeen(page, '#view', [
      '# Deliveries',
      'Everything that finished in any process, including queued runs, redrives and reconcile runs.',
      '# Call',
      'call-1 <Close the call>',
      'good:',
      'call:started (good: Handled)',
      'The event has been handled.',
      'This receiver’s store keeps no outcome log',
      'Without a log, this page cannot show what other processes did. All stores except Durable Objects keep one, and so does memoryStore() for one process, unless the receiver was created with log: false. Health, dead letters and reconciling work without it.',
    ]);
  });

  test.each([
    [
      '',
      { ...none, searched: 0, searchedTo: null },
      [
        'No deliveries yet',
        'Each request to a receiver appears here within a second or two, with its outcome, what the outcome means, and what to do about it.',
      ],
    ],
    [
      '&text=x&before=b-0',
      none,
      [
        'No delivery matches',
        '1,234 searched, back to 12:00:05. The log has no older deliveries.',
        '1,234 searched, back to 12:00:05 <Latest>',
      ],
    ],
    [
      '&outcome=newer',
      { ...none, before: 'b-2' },
      [
        'No delivery matches',
        '1,234 searched, back to 12:00:05. Choose Older to go on.',
        '1,234 searched, back to 12:00:05 <Older>',
      ],
    ],
  ] as const)('without rows, at "%s", says why and how to go on', async (more, changes, lines) => {
    const answers = {
      'api/failures': { causes: [], failures: 0, searchedTo: NOW },
      'api/deliveries': { ...DELIVERIES, before: undefined, ...changes },
    };
    const { page } = await openFixed(chromium, `${VIEW}${more}`, answers);
    await expectSeen(page, '.listed', lines);
  });

  test.each([
    [
      'with all that a row may have',
      {},
      [
        '# handler-failed',
        '(bad: Failed) <Close>',
        'bad:',
        'Your handler threw an error.',
        'The service will send it again.',
        'Fix the cause of the error. [More about handler-failed](https://call-webhooks.github.io/call-webhooks/outcomes.html#handler-failed)',
        'The handler failed: No line.',
        '[Show all three events of the call](?view=deliveries&call=call-1&tenant=acme)',
        'Time: 31 Jan 2026, 13:00:00 CET (2026-01-31 12:00:00 UTC)',
        'Event: call:completed',
        'Call: call-1',
        'Tenant: acme',
        'Key: k-1',
        'Webhook id: w-1',
        'Attempt: 2, 3 left',
        'Source: Webhook',
        'Took: 1.3 s',
        'Handler: 1.2 s',
        'Lag: 4.0 s',
        'Secret: current',
        'Process: p1',
        'State of the event in the store: (bad: Failing) Its last attempt failed.',
        '[Open the dead letter](?view=dead-letters&letter=l-1)',
        '# Earlier outcomes',
        '12:00:05 queued, from the queue',
      ],
    ],
    [
      'that is in no log',
      { deliveries: [], state: null, deadLetterId: null },
      [
        '# Delivery',
        '<Close>',
        'This delivery is not in the log. It is too old, or it was not kept.',
      ],
    ],
    [
      'whose dead letter is gone',
      { deliveries: [BARE], state: 'dead-lettered', deadLetterId: null, isLetterGone: true },
      [
        '# handled',
        '(good: Handled) <Close>',
        'good:',
        'The handler finished and the store recorded the event as done.',
        'The service is done with it.',
        'Nothing to do. [More about handled](https://call-webhooks.github.io/call-webhooks/outcomes.html#handled)',
        'Time: 31 Jan 2026, 12:00:05 CET (2026-01-31 11:00:05 UTC)',
        'Source: Webhook',
        'Took: 1 ms',
        'Process: p1',
        'State of the event in the store: (muted: No dead letter) Its last attempt failed, but it is not among the dead letters. It has been removed, or it belongs to a queue, so it cannot be redriven.',
      ],
    ],
    [
      'that was replayed',
      {
        deliveries: [{ ...BARE, outcome: 'replayed', result: 'rejected' }],
        ...{ state: 'handled', deadLetterId: null },
      },
      [
        '# replayed',
        '(wait: Rejected) <Close>',
        'wait:',
        'This webhook id was already received.',
        'The service will not send it again, because it is a copy of a request that was answered before.',
        'Every retry from the service has a new id, so this request was replayed, or a proxy repeated it. Turn off automatic retries of POST requests in your proxy. [More about replayed](https://call-webhooks.github.io/call-webhooks/outcomes.html#replayed)',
        'Time: 31 Jan 2026, 12:00:05 CET (2026-01-31 11:00:05 UTC)',
        'Source: Webhook',
        'Took: 1 ms',
        'Process: p1',
        'State of the event in the store: (good: Handled) The event has been handled.',
      ],
    ],
    [
      'of a newer version',
      {
        deliveries: [{ ...BARE, outcome: 'newer' as 'handled', attempt: 4, handlerMs: 7 }],
        ...{ state: null, deadLetterId: null },
      },
      [
        '# newer',
        '(good: Handled) <Close>',
        'Time: 31 Jan 2026, 12:00:05 CET (2026-01-31 11:00:05 UTC)',
        'Attempt: 4',
        'Source: Webhook',
        'Took: 1 ms',
        'Handler: 7 ms',
        'Process: p1',
      ],
    ],
  ] as const)('shows a delivery %s', async (_what, changes, lines) => {
    const detail: object = {
      ...{ deliveries: [...ROWS.slice(0, 1), { ...BARE, outcome: 'queued', source: 'queue' }] },
      ...{ state: 'failed', deadLetterId: 'l-1', isLetterGone: false },
      ...changes,
    };
    const answers = { 'api/deliveries/w-1': detail };
    const { page } = await openFixed(chromium, `${VIEW}&delivery=w-1`, answers);
    await expectSeen(page, '.detail', lines);
  });

  test.each([
    ['', ['[Show all three events of the call](?view=deliveries&call=call-1&tenant=acme)']],
    [
      '&call=call-2',
      ['[Show all three events of the call](?view=deliveries&call=call-1&tenant=acme)'],
    ],
    ['&call=call-1', []],
  ])('leads to the call of a delivery unless it is shown: at "%s"', async (more, lines) => {
    const { page } = await openFixed(chromium, `${VIEW}&delivery=w-1${more}`, {
      'api/calls/call-2': { ...CALL, events: [] },
    });
    await page.locator('.detail .facts').waitFor();
    await expectSeen(page, '.detail p:has(> a[href*="call="])', lines);
  });

  test.each([
    ['webhook', 'handler-failed', 'The service will send it again.'],
    ['queue', 'handler-failed', 'The queue will run it again.'],
    ['redrive', 'handler-failed', 'It stays in the dead letters until the next redrive.'],
    [
      ...(['reconcile', 'handler-failed'] as const),
      'The service will not send it again. The next reconcile run will find it.',
    ],
    ['webhook', 'handled', 'The service is done with it.'],
    ['queue', 'handled', 'The queue is done with it.'],
    ['redrive', 'handled', 'The redrive is done with it.'],
    ['reconcile', 'handled', 'The reconcile run is done with it.'],
  ] as const)('says what happens after a run from %s that is %s', async (source, outcome, text) => {
    const result = outcome === 'handled' ? ('handled' as const) : ('failed' as const);
    const { page } = await openFixed(chromium, `${VIEW}&delivery=w-1`, {
      'api/deliveries/w-1': {
        ...{ deliveries: [{ ...BARE, source, outcome, result }], state: null },
        ...{ deadLetterId: null, isLetterGone: false },
      },
    });
    await expectSeen(page, '.detail .outcome-note p:nth-of-type(2)', [text]);
  });

  test('shows errors of the API in their words, and nothing beside them', async () => {
    const { page } = await openFixed(chromium, `${VIEW}&delivery=w-1&call=call-1`, {
      'api/deliveries': refusal(503, 'store-unavailable', 'No list.'),
      'api/failures': refusal(503, 'store-unavailable', 'No failures.'),
      'api/deliveries/w-1': refusal(503, 'store-unavailable', 'No delivery.'),
      'api/calls/call-1': refusal(503, 'store-unavailable', 'No call.'),
    });
    await expectSeen(page, '.form-error', ['No call.', 'No delivery.', 'No failures.', 'No list.']);
  });

  test('has the times and the choices of the address in its fields', async () => {
    const since = NOW - 20 * 24 * HOUR;
    const query = `text=te&result=failed&outcome=newer&event=e&source=queue&tenant=t&call=c&cause=f-1&version=v`;
    const times = `since=${String(since)}&until=${String(NOW)}`;
    const { page, asks } = await openFixed(chromium, `${VIEW}&${query}&${times}&before=b`, {
      'api/calls/c': { ...CALL, events: [] },
    });
    await expectSeen(page, 'search, [aria-label="Causes of failures"]', [
      'Failures | Cause | Still open | Events | First | Last | Actions',
      '6 | No line. | 4 of 5 events | call:completed, unknown | 08:00:05 | 12:59:05 | <Show all> current',
      '3 | No key. | events unknown | unknown | 11:00:05 | 12:00:05 | <Show these>',
      '2 | No peek. | 1 event | unknown | 10:00:05 | 12:00:05 | <Show these>',
      '1 | Was down. | 0 of 1 event | call:started | 09:00:05 | 09:00:05 | <Show these>',
      '{Search: te} {Call id: c} {From: 2026-01-11T13:00} {To: 2026-01-31T13:00} {Result: Failed of Any result, Handled, Duplicate, Ignored, Dead letter, In dead letters, Failed, Rejected} {Outcome: newer of Any outcome, handled, duplicate, ignored, queued, dead-lettered, in-dead-letters, missing-header, malformed-header, timestamp-out-of-tolerance, signature-mismatch, method-not-allowed, body-timeout, replayed, body-too-large, unsupported-encoding, invalid-payload, handler-failed, body-already-parsed, in-progress, deadline, overloaded, store-unavailable, secret-unavailable, shutting-down, newer} {Event: e of Any event, call:completed, call:started, e} {Source: Queued runs of Any source, Webhook deliveries, Queued runs, Redrives, Reconcile runs} {Tenant: t of Any tenant, acme, t} {Version: v of Any version, 2.4.1, v} <Clear>',
    ]);
    await asks(`GET api/deliveries?${query}&${times}&before=b`);
    await asks(`GET api/failures?${times}&event=e&tenant=t`);
  });
});
