import { expect, it } from '@jest/globals';
import { counterName, durationBucket } from '@call-webhooks/core/stores';
import { statusLine } from '@call-webhooks/recovery';
import { COMPLETED, MINUTE, RECORDING, STARTED } from './service-model.ts';
import { ack, minutesAgo, NOW, periodsAgo, rowAt, statusOf } from './written-log.ts';

const ago = (minutes: number) => NOW - minutes * MINUTE;
const outcome = (source: string, code: string, eventName: string) =>
  counterName('outcome', source, code, eventName);

it('everything at once is told in the order of its importance, each item once, with its tenant', async () => {
  const failing = (tenant: string, key: string, first: number) =>
    [first, first - 5, first - 10].map((minutes, index) =>
      rowAt(minutes, { key, tenant, attempt: index + 1 }),
    );
  const mark = (result: string, tenant: string, eventName: string) =>
    counterName(result, tenant, eventName, 'secret-1');
  const found = await statusOf({
    failures: [...failing('acme', 'a', 14), ...failing('globex', 'g', 13)].sort(
      (one, other) => one.at - other.at,
    ),
    states: { a: 'failed', g: 'failed' },
    marks: {
      [mark('failed', 'acme', COMPLETED)]: ago(3),
      [mark('failed', 'globex', COMPLETED)]: ago(3),
      // Their retries did not come.
      [mark('failed', 'acme', STARTED)]: ago(50),
      [mark('failed', 'globex', RECORDING)]: ago(70),
      [mark('ack', 'initech', COMPLETED)]: ago(30),
      [mark('ack', 'hooli', STARTED)]: NOW,
      queue: ago(90),
    },
    counts: {
      minutes: minutesAgo({
        60: { [outcome('webhook', 'queued', STARTED)]: 2 },
        40: { [outcome('webhook', 'dead-lettered', 'lead')]: 4 },
        6: {
          [counterName('rejected', 'signature-mismatch', 'initech')]: 1,
          [counterName('rejected', 'secret-unavailable', 'hooli')]: 3,
        },
        1: {
          [counterName('rejected', 'signature-mismatch', 'initech')]: 5,
          [counterName('rejected', 'secret-unavailable', 'hooli')]: 7,
        },
      }),
      times: periodsAgo({
        3: { [counterName('deliveryMs', STARTED, String(durationBucket(14_000)))]: 9 },
      }),
    },
    cursors: {
      'tenant:hooli:call-webhooks.reconciled': JSON.stringify([
        {
          ...{ name: 'r', at: ago(20), since: ago(600), until: ago(30), dryRun: false },
          missed: { [STARTED]: 8 },
        },
      ]),
    },
  });
  expect(
    found.attention.map(({ kind, urgent, tenant, eventName, count, since }) =>
      [urgent ? 'urgent' : '', kind, tenant, eventName, count, (NOW - since) / MINUTE].join(' '),
    ),
  ).toEqual([
    ...[
      'urgent silent globex call:recording-available 1 70',
      'urgent silent acme call:started 1 50',
    ],
    'urgent rejected initech call:completed 6 6',
    ...['urgent failing acme call:completed 1 14', 'urgent failing globex call:completed 1 13'],
    ' rejected hooli  10 6',
    ' failing  lead 4 40',
    ' stuck   2 60',
    ' missed hooli call:started 8 600',
    ' slow  call:started 9 30',
  ]);
  expect(found.events.map(({ tenant, eventName, state }) => [tenant, eventName, state])).toEqual([
    ['acme', COMPLETED, 'attention'],
    ['acme', STARTED, 'attention'],
    ['globex', COMPLETED, 'attention'],
    ['globex', RECORDING, 'attention'],
    ['hooli', STARTED, 'attention'],
    ['initech', COMPLETED, 'attention'],
  ]);
  expect([found.undecided, found.notes]).toEqual([[], []]);
  expect(statusLine(found)).toBe(
    '10 things need attention: `call:recording-available` of globex has stopped arriving; `call:started` of acme has stopped arriving; `call:completed` of initech cannot be verified; `call:completed` of acme and `call:completed` of globex are failing; deliveries of hooli cannot be verified; `lead` is failing; deliveries are waiting in the queue; events of `call:started` of hooli are missing; `call:started` is slow.',
  );
});

it('an event needs attention if an item is about it, or about all events of its tenant', async () => {
  const { events, attention } = await statusOf({
    marks: {
      [ack(COMPLETED, 'acme')]: ago(180),
      [ack(STARTED, 'acme')]: ago(200),
      [ack(COMPLETED, 'globex')]: NOW,
    },
    counts: {
      arrivals: periodsAgo({ [7 * 144 + 12]: { [counterName(COMPLETED, 'acme')]: 25 } }),
    },
  });
  expect(attention).toMatchObject([{ kind: 'silent', by: 'usual-hours', tenant: 'acme' }]);
  expect(events.map(({ tenant, eventName, state }) => [tenant, eventName, state])).toEqual([
    ['acme', COMPLETED, 'attention'],
    ['acme', STARTED, 'attention'],
    ['globex', COMPLETED, 'arrives'],
  ]);
});

it('trouble of one tenant hides nothing of another, and nothing that is unusual is told of it besides', async () => {
  const tenants = ['acme', 'globex', 'hooli', 'initech'];
  const rejected = counterName('rejected', 'signature-mismatch', 'initech');
  const { attention } = await statusOf({
    marks: {
      [counterName('failed', 'acme', COMPLETED, 'secret-1')]: ago(200),
      [ack(COMPLETED, 'globex')]: ago(180),
      [ack(COMPLETED, 'hooli')]: ago(190),
      [ack(COMPLETED, 'initech')]: ago(170),
    },
    counts: {
      minutes: minutesAgo({ 6: { [rejected]: 1 }, 1: { [rejected]: 2 } }),
      arrivals: periodsAgo({
        [7 * 144 + 12]: Object.fromEntries(
          tenants.map((tenant) => [counterName(COMPLETED, tenant), 25]),
        ),
      }),
    },
  });
  expect(
    attention.map(({ kind, by, urgent, tenant, since }) => [kind, by, urgent, tenant, since]),
  ).toEqual([
    ['silent', 'retries', true, 'acme', ago(200)],
    ['rejected', undefined, true, 'initech', ago(6)],
    ['silent', 'usual-hours', false, 'hooli', ago(190)],
    ['silent', 'usual-hours', false, 'globex', ago(180)],
  ]);
});

it('what is said of an event of all tenants concerns it in each of them', async () => {
  const { events, attention } = await statusOf({
    marks: {
      [ack(COMPLETED, 'acme')]: NOW,
      [ack(STARTED, 'acme')]: NOW,
      [ack(COMPLETED, 'globex')]: NOW,
    },
    counts: {
      times: periodsAgo({
        1: { [counterName('deliveryMs', COMPLETED, String(durationBucket(14_000)))]: 9 },
      }),
    },
  });
  expect(attention.map(({ kind, tenant, eventName }) => [kind, tenant, eventName])).toEqual([
    ['slow', undefined, COMPLETED],
  ]);
  expect(events.map(({ tenant, eventName, state }) => [tenant, eventName, state])).toEqual([
    ['acme', COMPLETED, 'attention'],
    ['acme', STARTED, 'arrives'],
    ['globex', COMPLETED, 'attention'],
  ]);
});
