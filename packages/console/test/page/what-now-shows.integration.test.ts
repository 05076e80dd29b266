import { expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { describeInChromium } from '@call-webhooks/ui/test/describe-in-chromium';
import { expectSeen } from '@call-webhooks/ui/test/seen';
import type { Overview, Period } from '../../src/api-types.ts';
import { NOW, OVERVIEW, SESSION, TIMES } from './fixed-answers.ts';
import { openFixed } from './open-fixed.ts';

const { status, health, log } = OVERVIEW;
const HOUR = log?.hour as Period;
const overview = (changes: Partial<Overview>) => ({
  'api/overview': { ...OVERVIEW, ...changes },
});
const quiet = { attention: [], groups: [], notes: [], events: [], line: 'All events arrive.' };
const arriving = { eventName: 'call:started', state: 'arrives' } as const;

describeInChromium('the view Now', (chromium) => {
  test('shows every figure of the last hour in its place, with its words, links and colours', async () => {
    const { page, asked } = await openFixed(chromium);
    await expectSeen(page, '#view', [
      '# Now',
      '{Tenant: Any tenant of Any tenant, acme, globex} {Period: Last hour of Last hour, Last 26 hours}',
      'bad:',
      '# 3 things need attention: call:completed fails.',
      'bad:',
      '(bad: Urgent) 4 events of call:completed failed since 12:40:00.',
      '2 events of call:started failed.',
      'Fix the handler of crm. [More about this](https://docs.test/failing)',
      'Began 30 min ago',
      'wait:',
      '7 deliveries are slow.',
      'Find out why. [More about this](https://docs.test/slow)',
      'Began 3 h ago',
      '9 deliveries of lead/created have no handler.',
      'Events (4)',
      'Event | Tenant | State | Last arrived | Last acknowledged',
      'call:completed | acme | (bad: Needs attention) | 3 min ago | 40 min ago',
      'call:started | – | (good: Arriving) | 1 min ago | –',
      'lead/created | – | (muted: Quiet) | 5 h ago | –',
      'a custom payload | – | (wait: Unknown) The log has no rows since 10:00:00. | not in the last 30 days | –',
      'The figures cover all processes that share the store. In the last hour, 2 processes wrote to the store. 2 outcomes of the last 26 hours are counted here but not listed, because more than 50 deliveries ended within a second.',
      '# Receiver ready',
      'The process that responded can accept deliveries. This does not show whether a rule is paused in the service. Checked at 13:00:01.',
      'Store(good: Up) responded in 12 ms',
      'Queue(muted: Unknown) cannot be checked, because it has no ping()',
      'Secrets The secrets are part of the configuration, so there is no secrets manager to check.',
      'Webhook deliveries: 2,000 0.7 per minute',
      'Handled: 1,999 > 99.9%',
      'Duplicates: 1 < 0.1%',
      'bad:',
      'Dead-lettered: 150 7.5%',
      'bad:',
      'Failed: 20 1.0%',
      'wait:',
      'Rejected: 3 0.1%',
      'Handler time, all sources, p95: 1.5 s p50 40 ms · 17 after the deadline',
      'Lag, p95: 2.0 s p50 < 1 s, in whole seconds',
      'Webhook deliveries per minute',
      '33',
      '12:01: 5 ignored at 1 102 8 18',
      '12:01: 2 failed at 1 95 8 7',
      '12:01: 3 rejected at 1 84 8 11',
      '12:58: 28 handled at 571 18 8 102',
      '12:58: 1 duplicate at 571 15 8 4',
      '12:58: 4 dead letter at 571 0 8 15',
      '13:00: 30 handled at 591 11 8 109',
      'Version 2.4.1, since 31 Jan, 12:51 at 500',
      '12:01 13:00',
      'App versions, marked in the charts: [2.4.1](?view=deliveries&version=2.4.1) since 12:51:00, [2.3.0](?view=deliveries&version=2.3.0) since 29 Jan, 21:00.',
      '# Times, the last hour',
      '{Show the times of: All events of All events, call:completed}',
      'Each bar is the 95th percentile over ten minutes.',
      'Whole delivery: p50 11 ms, p95 210 ms',
      '210 ms',
      '12:20: 210 ms p95 of whole delivery at 180 0 69 120',
      'Version 2.4.1, since 31 Jan, 12:51 at 429',
      '12:00 13:00',
      'The time from the request to the response of a webhook delivery.',
      'Handler: p50 12 ms, p95 220 ms',
      '220 ms',
      '12:20: 220 ms p95 of handler at 180 0 69 120',
      'Version 2.4.1, since 31 Jan, 12:51 at 429',
      '12:00 13:00',
      'How long a handler runs: for deliveries, queued runs, redrives and reconcile runs.',
      'Store: p50 13 ms, p95 230 ms',
      '230 ms',
      '12:20: 230 ms p95 of store at 180 0 69 120',
      'Version 2.4.1, since 31 Jan, 12:51 at 429',
      '12:00 13:00',
      'How long all store calls of one delivery take together.',
      'Event | Handler runs | Handler, p50 | Handler, p95 | Whole delivery, p95',
      'call:completed | 31 | 16 ms | 260 ms | 250 ms',
      'unknown | 0 | – | – | 270 ms',
      '# By source, the last hour',
      'Source | Total | Handled | Duplicates | Dead-lettered | In dead letters | Failed | Rejected',
      '[Webhook deliveries](?view=deliveries&source=webhook) | 2,000 | 1,999 > 99.9% | 1 < 0.1% | 150 7.5% | 12 0.6% | 20 1.0% | 3 0.1%',
      '[Redrives](?view=deliveries&source=redrive) | 8 | 6 75% | 0 0% | 0 0% | 2 25% | 0 0% | 0 0%',
      '# Outcomes of all sources, the last hour',
      'Outcome | Times | What it means',
      '[handled](?view=deliveries&outcome=handled) | 1,996 | The handler finished and the store recorded the event as done. Nothing to do.',
      '[dead-lettered](?view=deliveries&outcome=dead-lettered) | 150 | The event failed maxAttempts times, or its payload is invalid. The dead-letter store has it, or it stays in the queue as a dead job. Find the event in your dead letters, fix the cause, and redrive it.',
      '[queued](?view=deliveries&outcome=queued) | 9 | The queue stored the delivery. A worker runs the handler. Nothing to do.',
      '[in-dead-letters](?view=deliveries&outcome=in-dead-letters) | 2 | The event is a dead letter. The handler did not run. Fix the cause, and redrive the dead letter.',
      '[duplicate](?view=deliveries&outcome=duplicate) | 1 | This event was already handled. The handler did not run again. Nothing to do. The service delivers at least once, so duplicates are normal.',
      '# Secrets',
      'Secret | Tenant | Last hour | Last 26 hours | Last used | What it means',
      's-in-use | acme, globex | 110 | 1,100 | 7 min ago | (good: In use)',
      's-quiet | acme | 111 | 1,101 | 14 min ago | (muted: Quiet) No delivery has been verified with it in the last hour.',
      's-being-replaced | – | 112 | 1,102 | 21 min ago | (wait: Being replaced) The latest delivery of each of its events was verified with new-1, new-2. If this is the old secret of a rotation, remove it once no delivery has been verified with it for ten minutes.',
      's-replaced | – | 113 | 1,103 | 28 min ago | (muted: Replaced) The latest delivery of each of its events was verified with new-1, new-2. If this is the old secret of a rotation, you can remove it.',
      's-unused | – | 0 | 0 | not in the last 30 days | (muted: Unused) No delivery has been verified with it. If it is the old secret of a rotation, you can remove it. If it is new, check that its action in the service uses it.',
      's-new-id | – | 0 | 0 | not in the last 30 days | (info: New id) No delivery has been verified with it since it was first listed under this id. Earlier deliveries are listed under s-other.',
      's-renamed | – | 0 | 0 | not in the last 30 days | (muted: Renamed) The number of secrets with this id has changed in the process that responded. It now lists them as s-other.',
      's-not-configured | – | 0 | 0 | not in the last 30 days | (wait: Not configured) The process that responded does not have this secret. Another process has it, or had it before.',
      'A rotation is complete once deliveries are arriving and none of them has been verified with the old secret for ten minutes. Then remove the old secret.',
      '# Processes of the last 50 hours',
      'Process | Version | Started | Last write | In flight at that time | State',
      'web-1, 41 | 2.4.1 | 2 h ago | just now | 3 | (good: Active) (wait: Clock) 7.0 s ahead. Synchronize the clock (NTP), or deliveries will be rejected.',
      'web-2, 42 | – | 3 d ago | 1 h ago | 0 | (muted: Quiet) (wait: Clock) 2 min behind. Synchronize the clock (NTP), or deliveries will be rejected.',
      'web-3, 43 | – | 4 d ago | 60 min ago | 0 | (bad: Lost) It was handling deliveries when it last wrote, so it has probably died.',
      'web-4, 44 | – | 5 d ago | 9 h ago | 0 | (muted: Closed)',
      'A process writes to the log once a second while it is handling deliveries. It is shown as active if it has written in the last 10 seconds. A quiet process has no deliveries, has died, or returns 404 before its receiver is reached: check each process with npx call-webhooks doctor --to URL.',
    ]);
    expect(asked.slice(0, 4).sort()).toEqual([
      'GET api/overview?timeZone=Europe/Oslo',
      'GET api/session',
      'GET api/tasks',
      'GET api/times?range=hour',
    ]);
  });

  test('shows the figures of the day', async () => {
    const { page, asks } = await openFixed(chromium, '?range=day');
    await expectSeen(page, '.tiles, .chart, [aria-label=Sources], [aria-label=Outcomes]', [
      'Webhook deliveries: 0 0.0 per minute',
      'Handled: 0 –',
      'Duplicates: 0 –',
      'Dead-lettered: 0 –',
      'Failed: 0 –',
      'Rejected: 0 –',
      'Handler time, all sources, p95: – No handler ran.',
      'Lag, p95: – The time from signing to arrival.',
      'Webhook deliveries per ten minutes',
      '33',
      '30 Jan, 11:10: 5 ignored at 0 102 3 18',
      '30 Jan, 11:10: 2 failed at 0 95 3 7',
      '30 Jan, 11:10: 3 rejected at 0 84 3 11',
      '31 Jan, 12:40: 28 handled at 589 18 3 102',
      '31 Jan, 12:40: 1 duplicate at 589 15 3 4',
      '31 Jan, 12:40: 4 dead letter at 589 0 3 15',
      '31 Jan, 13:00: 30 handled at 597 11 3 109',
      'Version 2.4.1, since 31 Jan, 12:51 at 592',
      '30 Jan, 11:10 31 Jan, 13:00',
      'Whole delivery: p50 11 ms, p95 210 ms',
      '210 ms',
      '31 Jan, 12:20: 210 ms p95 of whole delivery at 180 0 69 120',
      'Version 2.4.1, since 31 Jan, 12:51 at 429',
      '31 Jan, 12:00 31 Jan, 13:00',
      'Handler: p50 12 ms, p95 220 ms',
      '220 ms',
      '31 Jan, 12:20: 220 ms p95 of handler at 180 0 69 120',
      'Version 2.4.1, since 31 Jan, 12:51 at 429',
      '31 Jan, 12:00 31 Jan, 13:00',
      'Store: p50 13 ms, p95 230 ms',
      '230 ms',
      '31 Jan, 12:20: 230 ms p95 of store at 180 0 69 120',
      'Version 2.4.1, since 31 Jan, 12:51 at 429',
      '31 Jan, 12:00 31 Jan, 13:00',
      'Source | Total | Handled | Duplicates | Dead-lettered | Failed | Rejected',
      '[Queued runs](?view=deliveries&source=queue) | 5 | 0 0% | 0 0% | 0 0% | 5 100% | 0 0%',
      'Outcome | Times | What it means',
      '[handler-failed](?view=deliveries&outcome=handler-failed) | 4 | Your handler threw an error. Fix the cause of the error.',
      '[newer-code](?view=deliveries&outcome=newer-code) | 1 | This outcome was written by a newer version of the package.',
    ]);
    await asks('GET api/times?range=day');
  });

  test('says whose status and whose figures are shown, also of a tenant that is gone', async () => {
    const { page, asks } = await openFixed(chromium, '?tenant=gone');
    await expectSeen(page, '.view-head, .view > .hint:nth-of-type(1), #view > p', [
      '# Now',
      '{Tenant: gone of Any tenant, acme, globex, gone} {Period: Last hour of Last hour, Last 26 hours}',
      'The status is that of tenant gone. The figures below cover all tenants, and all processes that share the store. In the last hour, 2 processes wrote to the store. 2 outcomes of the last 26 hours are counted here but not listed, because more than 50 deliveries ended within a second.',
      'App versions, marked in the charts: [2.4.1](?view=deliveries&version=2.4.1) since 12:51:00, [2.3.0](?view=deliveries&version=2.3.0) since 29 Jan, 21:00.',
    ]);
    await asks('GET api/overview?timeZone=Europe/Oslo&tenant=gone');
  });

  test.each([
    ['good', 'everything arrives', { events: [arriving] }],
    ['muted', 'nothing arrived yet', {}],
    ['muted', 'one event is quiet', { events: [arriving, { eventName: 'e', state: 'quiet' }] }],
    [
      ...(['muted', 'rejections are undecided'] as const),
      { events: [arriving], undecided: [{ since: NOW, count: 1, text: '' }] },
    ],
    ['muted', 'the log cannot be read', { events: [arriving], unknown: 'no log' }],
    ['wait', 'something is not urgent', { attention: status.attention.slice(2) }],
    ['bad', 'something is urgent', { attention: status.attention }],
  ] as const)('has the colour "%s" while %s', async (tone, _what, changes) => {
    const shown = { ...status, ...quiet, ...changes } as Overview['status'];
    const { page } = await openFixed(chromium, '', overview({ status: shown }));
    await page.locator(`.status[data-tone=${tone}]`).waitFor();
    await expectSeen(page, '.status-line', ['# All events arrive.']);
  });

  test.each([
    [
      'down, closing and full',
      {
        ...{ ok: false, closing: true, overloaded: true as const, checkedAt: NOW },
        store: { status: 'down', durationMs: 5_000, error: 'connect ECONNREFUSED. ' },
        queue: { status: 'down', durationMs: 5_000, error: 'no queue' },
        secrets: { status: 'down', durationMs: 5_000, error: 'no vault' },
      },
      [
        '# Receiver not ready',
        'The process that responded cannot accept deliveries. Checked at 13:00:05.',
        'Store(bad: Down) connect ECONNREFUSED. Deliveries are answered with 503, and the service retries them. Check the server of the store.',
        'Queue(bad: Down) no queue. Deliveries are answered with 503, and the service retries them. Check the server of the queue.',
        'Secrets(bad: Down) no vault. No delivery can be verified. Check your secrets manager.',
        'The receiver is shutting down and returns 503. This is expected during a deployment.',
        'The receiver is handling as many deliveries as maxInFlight allows, and returns 503 for any more. Find out what the handlers are waiting for.',
      ],
    ],
    [
      'of tenants, with fields of other names',
      {
        ...{ ok: true, closing: false, checkedAt: NOW, queue: undefined, secretIds: undefined },
        store: { status: 'up', durationMs: 0.2 },
        unknownFields: [
          {
            ...{ eventName: 'call:completed', properties: ['placedBy', 'endedAt'] },
            fields: ['endedOn', 'callId'],
          },
        ],
      },
      [
        '# Receiver ready',
        'The process that responded can accept deliveries. This does not show whether a rule is paused in the service. Checked at 13:00:05.',
        'Store(good: Up) responded in < 1 ms',
        'Queue The receiver has no queue. Handlers run in the receiver itself.',
        'Secrets Each tenant has its own secrets. The receiver loads them when a delivery arrives, so there is nothing to check now.',
        'wait:',
        'In call:completed handlers, context.call does not have placedBy, endedAt: the field was not found, or its value has another type. The service does not document the names of these fields, so the default names are guesses.',
        'The body has these fields: endedOn, callId',
        'Set the fieldNames option of the receiver to the names that your service uses. The command npx call-webhooks infer deliveries.jsonl finds them in captured deliveries. [More about field names](https://docs.test/field-names)',
      ],
    ],
  ] as const)('shows the health of a receiver that is %s', async (_what, changes, lines) => {
    const shown = { ...health, ...changes } as unknown as Overview['health'];
    const { page } = await openFixed(chromium, '', overview({ health: shown }));
    await expectSeen(page, '.section:has(.health)', lines);
  });

  test.each([
    [
      'the log cannot be read at the moment',
      true,
      ['The outcome log cannot be read at the moment. Check above whether the store is down.'],
    ],
    [
      'there is no log',
      false,
      [
        'This receiver’s store keeps no outcome log',
        'Without a log, this page cannot show what other processes did. All stores except Durable Objects keep one, and so does memoryStore() for one process, unless the receiver was created with log: false. Health, dead letters and reconciling work without it.',
      ],
    ],
  ] as const)('says that %s', async (_what, hasLog, lines) => {
    const { page } = await openFixed(chromium, '', {
      ...overview({ log: null }),
      'api/session': { ...SESSION, log: hasLog },
    });
    await expectSeen(page, '.form-error, .empty', lines);
    await page.getByRole('heading', { name: 'Receiver ready' }).waitFor();
  });

  test('says what to do while nothing has arrived, and fills no table', async () => {
    const none = { ...HOUR, sources: {}, late: 0, handlerMs: null, lagMs: null };
    const empty = { hour: none, day: none, processes: [], versions: [], secrets: [] };
    const nothing = { delivery: null, handler: null, store: null, lag: null, events: [] };
    const { page } = await openFixed(chromium, '', {
      ...overview({ log: { ...empty, rowsDropped: 0 } }),
      'api/times': { ...TIMES, ...nothing, points: [] },
    });
    await expectSeen(page, '#view > *:not(.view-head, .status, .chart)', [
      'The figures cover all processes that share the store. In the last hour, 0 processes wrote to the store.',
      '# Receiver ready',
      'The process that responded can accept deliveries. This does not show whether a rule is paused in the service. Checked at 13:00:01.',
      'Store(good: Up) responded in 12 ms',
      'Queue(muted: Unknown) cannot be checked, because it has no ping()',
      'Secrets The secrets are part of the configuration, so there is no secrets manager to check.',
      '# No deliveries yet',
      "In the service, set the URL of your rule's webhook action to the URL of the receiver.",
      'Test the receiver from your machine: CALL_WEBHOOK_SECRET=whsec_… npx call-webhooks check --to https://your.app/hook --allow-external. The deliveries that this command sends will appear here within seconds.',
      'Place a call. The service sends one delivery for each of its events.',
      'If nothing appears here after a call, no request has reached the receiver. Check the rule in the service, the URL and the proxy. Rejected requests are counted here as well, so they would be visible.',
      'Webhook deliveries: 0 0.7 per minute',
      'Handled: 0 –',
      'Duplicates: 0 –',
      'Dead-lettered: 0 –',
      'Failed: 0 –',
      'Rejected: 0 –',
      'Handler time, all sources, p95: – No handler ran.',
      'Lag, p95: – The time from signing to arrival.',
      '# Times, the last hour',
      '{Show the times of: All events of All events}',
      'Each bar is the 95th percentile over ten minutes.',
      'Whole delivery: nothing measured',
      '1 ms',
      'The time from the request to the response of a webhook delivery.',
      'Handler: nothing measured',
      '1 ms',
      'How long a handler runs: for deliveries, queued runs, redrives and reconcile runs.',
      'Store: nothing measured',
      '1 ms',
      'How long all store calls of one delivery take together.',
      'No handler ran in this period.',
      '# Outcomes of all sources, the last hour',
      'No deliveries in this period.',
      '# Secrets',
      'No delivery has been verified yet. Once one has, its secret is listed here by id, never by value.',
      '# Processes of the last 50 hours',
      'No process has written yet.',
      'A process writes to the log once a second while it is handling deliveries. It is shown as active if it has written in the last 10 seconds. A quiet process has no deliveries, has died, or returns 404 before its receiver is reached: check each process with npx call-webhooks doctor --to URL.',
    ]);
  });

  test('shows the times of one event, for which it asks at once', async () => {
    const { page, asked, pass } = await openFixed(chromium, '?range=day', {}, { isStill: true });
    const select = page.getByLabel('Show the times of');
    for (const [event, query] of [
      ['call:completed', '&event=call:completed'],
      ['', ''],
    ] as const) {
      await select.selectOption(event);
      await pass(0);
      await waitFor(() => asked.at(-1) === `GET api/times?range=day${query}`);
      await page
        .getByText('Store times are not')
        .waitFor({ state: event ? 'visible' : 'detached' });
    }
  });

  test('names the tenants of secrets only where there are tenants', async () => {
    const secrets = log?.secrets.slice(0, 1).map((one) => ({ ...one, tenants: [] }));
    const { page } = await openFixed(chromium, '', overview({ log: { ...log, secrets } as never }));
    await expectSeen(page, '[aria-label=Secrets]', [
      'Secret | Last hour | Last 26 hours | Last used | What it means',
      's-in-use | 110 | 1,100 | 7 min ago | (good: In use)',
    ]);
  });

  test.each([
    ['', '12:01 13:00'],
    ['?range=day', 'Jan 30, 11:10 Jan 31, 13:00'],
  ])(
    'tells times by a clock of 24 hours, also where people have one of 12: "%s"',
    async (query, ends) => {
      const { page } = await openFixed(chromium, query, {}, { locale: 'en-US' });
      await expectSeen(page, '#view > .chart .chart-ends, #view > p:has(a)', [
        ends,
        'App versions, marked in the charts: [2.4.1](?view=deliveries&version=2.4.1) since 12:51:00, [2.3.0](?view=deliveries&version=2.3.0) since Jan 29, 21:00.',
      ]);
    },
  );

  test.each([
    ['hour', 60_000],
    ['day', 600_000],
  ])('a bar of the %s leads to the deliveries of its time', async (range, step) => {
    const { page, asks } = await openFixed(chromium, range === 'day' ? '?range=day' : '');
    await page.locator('#view > .chart .chart-place').last().click();
    await page.locator('body[data-ready=deliveries]').waitFor();
    const since = Math.floor(NOW / step) * step;
    const query = `source=webhook&since=${String(since)}&until=${String(since + step)}`;
    await asks(`GET api/deliveries?${query}`);
    expect(new URL(page.url()).search).toBe(`?view=deliveries&${query}`);
  });
});
