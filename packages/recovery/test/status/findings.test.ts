import { expect, it } from '@jest/globals';
import { OUTCOMES } from '@call-webhooks/core';
import { counterName } from '@call-webhooks/core/stores';
import { COMPLETED, MINUTE, RECORDING, STARTED } from './service-model.ts';
import { ack, minutesAgo, NOW, periodsAgo, rowAt, statusOf, type Written } from './written-log.ts';

// Whoever is woken by an item reads nothing else: each of them is compared with all that it says, word by word.

const ago = (minutes: number) => NOW - minutes * MINUTE;
const failedMark = (tenant = '', eventName = COMPLETED) =>
  counterName('failed', tenant, eventName, 'secret-2');
const docs = (kind: string) => `https://call-webhooks.github.io/call-webhooks/status.html#${kind}`;
const failed = (key: string, minutes: number, error: string, more: object = {}) =>
  rowAt(minutes, { key, error: `The handler failed: ${error}`, ...more });
const REFUSED = 'Error: connect ECONNREFUSED 10.0.0.5:5432';
const PAUSES =
  'The service sends an event again about every 5 minutes, a limited number of times, and then pauses the rule.';
const UNDER_RULES = "the service's web application, under Rules";
const RESUMED = 'If you have resumed the rule, this disappears with the next event.';
const run = (flags: string) =>
  `un \`call-webhooks reconcile ${flags} --to URL\` with the URL of your receiver.`;
const GONE = 'The rule was probably paused, and the service probably sent no events of that time.';
const FORGED =
  'If a secret was rotated, or an action created, configure its secret. Forged requests cause this message, too.';
const outcome = (source: string, code: string, eventName: string) =>
  counterName('outcome', source, code, eventName);
const report = (more: object) =>
  JSON.stringify([
    {
      ...{ name: 'nightly', at: ago(30), since: ago(360), until: ago(40), dryRun: false },
      ...{ missed: { [COMPLETED]: 3 }, ...more },
    },
  ]);
/** Twelve periods in which each call of acme has a recording, and four hours later calls that have none. */
const withoutRecordings = (again: object) =>
  periodsAgo({
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        24 + index,
        { [counterName(COMPLETED, 'acme')]: 2, [counterName(RECORDING, 'acme')]: 2 },
      ]),
    ),
    ...Object.fromEntries([16, 15, 14].map((at) => [at, { [counterName(COMPLETED, 'acme')]: 3 }])),
    ...again,
  });
const rejected = (code: string, tenant: string, counts: Readonly<Record<number, number>>) =>
  minutesAgo(
    Object.fromEntries(
      Object.entries(counts).map(([at, count]) => [
        at,
        { [counterName('rejected', code, tenant)]: count },
      ]),
    ),
  );
const FINDINGS: [what: string, written: Written, attention: readonly object[]][] = [
  [
    'one event that fails, which the service will give up',
    {
      failures: [11, 6, 1].map((at, index) => failed('c1', at, REFUSED, { attempt: index + 1 })),
      marks: { [failedMark()]: ago(1) },
      states: { c1: 'failed' },
    },
    [
      {
        ...{ kind: 'failing', urgent: true, eventName: COMPLETED, since: ago(11), count: 1 },
        text: `\`call:completed\` is failing (\`handler-failed\`). One event has failed 3 times, first at 13:49 UTC and last at 13:59 UTC. Each time, the error was \`${REFUSED}\`. ${PAUSES}`,
        fix: 'Fix the cause of the error. Set deadLetter so that one bad event cannot pause the rule.',
        docs: docs('failing'),
      },
    ],
  ],
  [
    'two events of a tenant that fail, and will become dead letters',
    {
      failures: [
        failed('a1', 12, 'Error: one', { tenant: 'acme', attemptsLeft: 4 }),
        failed('a1', 7, 'Error: one', { tenant: 'acme', attempt: 2, attemptsLeft: 3 }),
        failed('a2', 6, 'Error: two', { tenant: 'acme', attemptsLeft: 4 }),
        failed('a1', 2, 'Error: one', { tenant: 'acme', attempt: 3, attemptsLeft: 2 }),
        failed('a2', 1, 'Error: two', { tenant: 'acme', attempt: 2, attemptsLeft: 3 }),
      ],
      marks: { [failedMark('acme')]: ago(1) },
      states: { a1: 'failed', a2: 'failed' },
    },
    [
      {
        ...{ kind: 'failing', urgent: false, tenant: 'acme', eventName: COMPLETED },
        ...{ since: ago(12), count: 2 },
        text: '`call:completed` is failing (`handler-failed`). 2 events are failing. The oldest one has failed 3 times, first at 13:48 UTC and last at 13:59 UTC. The most frequent error is `Error: one` (3 of 5 failures). After its last attempt, an event becomes a dead letter. Dead letters cannot pause the rule.',
        fix: 'Fix the cause of the error, and redrive the dead letters.',
        docs: docs('failing'),
      },
    ],
  ],
  [
    'deliveries that cannot be told apart',
    {
      failures: [10, 6, 1].map((at) => {
        const { eventName: _, attempt: __, ...row } = rowAt(at, { outcome: 'overloaded' });
        return row;
      }),
    },
    [
      {
        ...{ kind: 'failing', urgent: true, since: ago(10), count: 1 },
        text: `Deliveries are failing (\`overloaded\`). 3 deliveries failed between 13:50 UTC and 13:59 UTC. Each time, the error was \`overloaded\`. ${PAUSES}`,
        fix: OUTCOMES.overloaded.fix,
        docs: docs('failing'),
      },
    ],
  ],
  [
    'one dead letter, of which the log has the error',
    {
      failures: [failed('d1', 30, REFUSED, { outcome: 'dead-lettered' })],
      counts: {
        minutes: minutesAgo({ 30: { [outcome('webhook', 'dead-lettered', COMPLETED)]: 1 } }),
      },
    },
    [
      {
        ...{ kind: 'failing', urgent: false, eventName: COMPLETED, since: ago(30), count: 1 },
        text: `1 \`call:completed\` event has become a dead letter since 13:30 UTC, and no redrive has handled it so far. The error was \`${REFUSED}\`. Dead letters cannot pause the rule.`,
        fix: 'Look at the dead letters, fix the cause, and redrive them.',
        docs: docs('failing'),
      },
    ],
  ],
  [
    'many dead letters of custom payloads, of receivers and workers, late ones included',
    {
      counts: {
        minutes: minutesAgo({
          50: { [outcome('webhook', 'dead-lettered', '')]: 1_200 },
          20: {
            [counterName('late', 'webhook', 'dead-lettered', '')]: 30,
            [outcome('queue', 'dead-lettered', '')]: 4,
            [outcome('redrive', 'dead-lettered', '')]: 500,
          },
        }),
      },
    },
    [
      {
        ...{ kind: 'failing', urgent: false, since: ago(50), count: 1_234 },
        text: '1,234 events have become dead letters since 13:10 UTC, and no redrive has handled them so far. Dead letters cannot pause the rule.',
        fix: 'Look at the dead letters, fix the cause, and redrive them.',
        docs: docs('failing'),
      },
    ],
  ],
  [
    'events that were given up while others arrive',
    {
      failures: [failed('lost-1', 40, REFUSED), failed('lost-2', 35, REFUSED)],
      rows: [rowAt(30, { outcome: 'handled', key: 'other' })],
      marks: { [ack(COMPLETED)]: ago(20) },
      states: { 'lost-1': 'failed', 'lost-2': 'failed' },
    },
    [
      {
        ...{ kind: 'missed', urgent: false, eventName: COMPLETED, since: ago(40), count: 2 },
        text: '2 `call:completed` events have failed since 13:20 UTC and have not been sent again, although others have arrived since, the last one at 13:40 UTC.',
        fix: `R${run('--since 2026-11-02T09:00Z')}`,
        docs: docs('missed'),
      },
    ],
  ],
  [
    'an event whose retry did not come, of which the log has nothing more',
    { marks: { [failedMark()]: ago(60) } },
    [
      {
        ...{ kind: 'silent', urgent: true, by: 'retries', eventName: COMPLETED },
        ...{ since: ago(60), count: 1 },
        text: '`call:completed` has stopped arriving: its last delivery failed at 13:00 UTC, and the retry has not arrived. The rule is probably paused, or requests no longer reach the receiver.',
        fix: `Look at the rule in ${UNDER_RULES}, and resume it. 10 minutes later, r${run('--since 2026-11-02T09:00Z')} ${RESUMED}`,
        docs: docs('silent'),
      },
    ],
  ],
  [
    'events of a tenant whose retries did not come, one of which a reconcile has handled',
    {
      failures: [
        failed('b1', 65, REFUSED, { tenant: 'acme' }),
        failed('b2', 62, REFUSED, { tenant: 'acme' }),
        failed('b1', 60, REFUSED, { tenant: 'acme', attempt: 2 }),
      ],
      marks: { [failedMark('acme')]: ago(60) },
      counts: { minutes: minutesAgo({ 10: { [outcome('reconcile', 'handled', COMPLETED)]: 1 } }) },
      states: { b1: 'failed', b2: 'handled' },
    },
    [
      {
        ...{ kind: 'silent', urgent: true, by: 'retries', tenant: 'acme', eventName: COMPLETED },
        ...{ since: ago(65), count: 2 },
        text: `\`call:completed\` has stopped arriving: its last delivery failed at 13:00 UTC, and the retry has not arrived. 2 events have failed since 12:55 UTC and have not been acknowledged. Each time, the error was \`${REFUSED}\`. Since then, reconcile has handled 1 of them, which does not resume the rule. The rule is probably paused, or requests no longer reach the receiver.`,
        fix: `Fix the cause of the error. Then resume the rule in ${UNDER_RULES}. 10 minutes later, r${run('--since 2026-11-02T08:00Z --tenant acme')} ${RESUMED}`,
        docs: docs('silent'),
      },
    ],
  ],
  [
    'a silence after failures that has just ended',
    {
      failures: [failed('e1', 60, REFUSED), failed('e1', 55, REFUSED, { attempt: 2 })],
      marks: { [ack(COMPLETED)]: ago(5) },
      states: { e1: 'failed' },
    },
    [
      {
        ...{ kind: 'missed', urgent: false, eventName: COMPLETED, since: ago(55), count: 1 },
        text: `\`call:completed\` did not arrive from 13:05 UTC to 13:55 UTC, after 1 event had failed and was not sent again. Each time, the error was \`${REFUSED}\`. ${GONE}`,
        fix: `R${run('--since 2026-11-02T09:00Z')} Run it after 14:05 UTC, because reconcile leaves out the last 10 minutes.`,
        docs: docs('missed'),
      },
    ],
  ],
  [
    'recordings of a tenant that did not come for a while',
    {
      counts: {
        arrivals: withoutRecordings({
          3: { [counterName(RECORDING, 'acme')]: 1, [counterName(COMPLETED, 'acme')]: 1 },
        }),
      },
      marks: { [ack(COMPLETED, 'acme')]: ago(25), [ack(RECORDING, 'acme')]: ago(25) },
    },
    [
      {
        ...{ kind: 'missed', urgent: false, tenant: 'acme', eventName: RECORDING },
        ...{ since: ago(240), count: 9 },
        text: `\`call:recording-available\` of acme did not arrive from 10:00 UTC to 13:30 UTC, although \`call:completed\` had arrived for 9 calls for which it should have arrived. ${GONE}`,
        fix: `R${run('--since 2026-11-02T06:00Z --recordings --tenant acme')}`,
        docs: docs('missed'),
      },
    ],
  ],
  [
    'recordings of a tenant that do not come',
    {
      counts: { arrivals: withoutRecordings({}) },
      marks: { [ack(COMPLETED, 'acme')]: ago(1), [ack(RECORDING, 'acme')]: ago(235) },
    },
    [
      {
        ...{ kind: 'silent', urgent: true, by: 'other-events', tenant: 'acme' },
        ...{ eventName: RECORDING, since: ago(235), count: 9 },
        text: '`call:recording-available` has not arrived since 10:05 UTC, although `call:completed` has arrived for 9 calls for which it should have arrived by now. Usually, it arrives for 100% of the calls. The rule is probably paused, changed or removed, or requests no longer reach the receiver.',
        fix: `Look at the rule in ${UNDER_RULES}. If it is paused and no delivery had failed, a 404 is the most likely cause, and would pause it again: before you resume it, run \`call-webhooks doctor --to URL\` against each process and proxy. 10 minutes later, r${run('--since 2026-11-02T06:00Z --recordings --tenant acme')} ${RESUMED}`,
        docs: docs('silent'),
      },
    ],
  ],
  [
    'nothing in hours that had many calls in the week before',
    {
      marks: { [ack(COMPLETED)]: ago(180), [ack(STARTED)]: ago(181) },
      counts: {
        arrivals: periodsAgo({
          [7 * 144 + 12]: { [counterName(COMPLETED, '')]: 25, [counterName(STARTED, '')]: 24 },
        }),
      },
    },
    [
      {
        ...{ kind: 'silent', urgent: false, by: 'usual-hours', since: ago(180), count: 25 },
        text: 'Nothing has arrived since 11:00 UTC. In the same hours of last week, 25 calls arrived. On a holiday this is normal.',
        fix: `If calls are being made now, run \`call-webhooks doctor --to URL\` against each process and proxy, and look at the rules in ${UNDER_RULES}. Resume those that are paused. 10 minutes later, r${run('--since 2026-11-02T07:00Z')}`,
        docs: docs('silent'),
      },
    ],
  ],
  [
    'a delivery that waits in a queue',
    {
      counts: { minutes: minutesAgo({ 20: { [outcome('webhook', 'queued', COMPLETED)]: 1 } }) },
      marks: { queue: ago(40) },
    },
    [
      {
        ...{ kind: 'stuck', urgent: false, since: ago(20), count: 1 },
        text: '1 delivery has been queued since 13:40 UTC, and no job has finished since then. These deliveries were acknowledged, so the service will not send them again.',
        fix: 'Check that a worker is running, and restart one that hangs. If your workers have the probe of the docs, `curl -i http://WORKER:3001/ready` returns 503 while a worker cannot run jobs.',
        docs: docs('stuck'),
      },
    ],
  ],
  [
    'rejections since which two events have not arrived',
    {
      counts: { minutes: rejected('signature-mismatch', '', { 8: 2, 5: 1, 2: 4 }) },
      failures: [
        { ...rowAt(7.9), outcome: 'signature-mismatch' },
        { ...rowAt(1.1), outcome: 'signature-mismatch' },
      ],
      marks: { [ack(COMPLETED)]: ago(20), [counterName('ack', '', STARTED, '')]: ago(30) },
    },
    [
      {
        ...{ kind: 'rejected', urgent: true, since: ago(7.9), count: 7 },
        text: '7 deliveries have failed verification since 13:52 UTC (`signature-mismatch`), the last one at 13:58 UTC. These events have not arrived since: `call:completed`, last verified with the secret `secret-1` at 13:40 UTC; `call:started`, last verified at 13:30 UTC. After the last retry, the service pauses the rule.',
        fix: FORGED,
        docs: docs('rejected'),
      },
    ],
  ],
  [
    'rejections of a tenant by its clock, since which one event has not arrived',
    {
      counts: { minutes: rejected('timestamp-out-of-tolerance', 'acme', { 6: 1, 1: 1 }) },
      marks: { [ack(COMPLETED, 'acme')]: ago(20), [ack(STARTED, 'acme')]: NOW },
    },
    [
      {
        ...{ kind: 'rejected', urgent: true, tenant: 'acme', eventName: COMPLETED },
        ...{ since: ago(6), count: 2 },
        text: '2 deliveries have failed verification since 13:54 UTC (`timestamp-out-of-tolerance`), the last one at 13:59 UTC. One event has not arrived since: `call:completed`, last verified with the secret `secret-1` at 13:40 UTC. After the last retry, the service pauses the rule.',
        fix: OUTCOMES['timestamp-out-of-tolerance'].fix,
        docs: docs('rejected'),
      },
    ],
  ],
  ...(
    [
      [
        'acme',
        {},
        'They name a tenant that has never had a verified delivery.',
        { tenant: 'acme' },
      ],
      [
        '',
        { [ack(COMPLETED)]: NOW },
        'All known events have arrived since. These deliveries are from an action whose secret is not configured or from another environment, or they are forged.',
        {},
      ],
      ['', {}, 'No delivery has ever been verified.', {}],
    ] as const
  ).map(([tenant, marks, text, of]): (typeof FINDINGS)[number] => [
    `rejections that concern no event: ${text}`,
    { counts: { minutes: rejected('signature-mismatch', tenant, { 6: 2, 1: 3 }) }, marks },
    [
      {
        ...{ kind: 'rejected', urgent: false, ...of, since: ago(6), count: 5 },
        text: `5 deliveries have failed verification since 13:54 UTC (\`signature-mismatch\`), the last one at 13:59 UTC. ${text}`,
        fix: FORGED,
        docs: docs('rejected'),
      },
    ],
  ]),
  ...(
    [
      ['has found and run', false, ''],
      [
        'would have run',
        true,
        `It was a dry run, so nothing was run. Run reconcile without dryRun, or r${run('--since 2026-11-02T04:00Z')} `,
      ],
    ] as const
  ).map(([what, dryRun, fix]): (typeof FINDINGS)[number] => [
    `what a reconciler ${what}`,
    { cursors: { 'call-webhooks.reconciled': report({ dryRun }) } },
    [
      {
        ...{ kind: 'missed', urgent: false, eventName: COMPLETED, since: ago(360), count: 3 },
        text: 'The reconcile run at 13:30 UTC found 3 `call:completed` events that never arrived, for calls between 08:00 UTC and 13:20 UTC. The rule may be paused.',
        fix: `${fix}Look at the rule in ${UNDER_RULES}.`,
        docs: docs('missed'),
      },
    ],
  ]),
];

it.each(FINDINGS)('%s: the item says all of this', async (_what, written, attention) => {
  expect((await statusOf(written)).attention).toEqual(attention);
});
