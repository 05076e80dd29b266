import { describe, expect, test } from '@jest/globals';
import type { AttemptSummary, WebhookEventSummary } from '@call-webhooks/simulator';
import { attemptWriter, unsentLine } from '../src/simulator/attempt-lines.ts';
import { colorsFor } from '../src/terminal/text.ts';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

// What is printed of an attempt whose every figure differs from every other: it was sent 30 s before it
// ended on the simulator's clock, and took 4.2 s.

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const URL = 'http://127.0.0.1:3000/hook';

const attempt = (more: Partial<AttemptSummary> = {}): AttemptSummary => ({
  ...{ number: 1, kind: 'scheduled', startedAt: AT, endedAt: AT + 30_000, tookMs: 4_200 },
  ...{ url: URL, chaos: [], dropped: false },
  ...{ response: { kind: 'status', status: 500 }, result: { next: 'retry', reason: 'status' } },
  ...more,
});
const event = (more: Partial<WebhookEventSummary> = {}): WebhookEventSummary => ({
  ...{ _id: 'event0000001', number: 1, ruleId: 'rule-1', actionId: 'action-1' },
  ...{ callId: 'call00000001', eventName: 'call:started', createdAt: AT - 60_000 },
  ...{ state: 'waiting', attempts: [], url: URL },
  ...more,
});

/** The lines without the first columns, which are the same for all. */
function printed(one: AttemptSummary, of: WebhookEventSummary, columns = 1_000) {
  const lines = attemptWriter(columns)(colorsFor(false), of, one).map(({ plain }) => plain);
  const [first = '', ...others] = lines;
  const head = '03:04:35Z  call:started              call0000  ';
  expect(first.slice(0, head.length)).toBe(head);
  return [first.slice(head.length), ...others];
}

const OWN =
  '           The response names no outcome, so this 500 comes from your own code, the framework or a proxy.';
const explained = (when: string, topic: string) => [
  `           ${when}`,
  `           To fix it: npx call-webhooks explain ${topic}`,
];

describe('an attempt', () => {
  test.each<[what: string, AttemptSummary, WebhookEventSummary, lines: string[]]>([
    [
      'whose retry is due: from its end',
      attempt(),
      event({ nextAttemptAt: AT + 330_000 }),
      [`500  4.2 s  retry in 5 min  ${URL}`, OWN, ...explained('', '500').slice(1)],
    ],
    [
      'whose retry was sent: that counts, not the one that is due',
      attempt({ number: 2 }),
      event({
        nextAttemptAt: AT + 900_000,
        attempts: [attempt({ number: 3, startedAt: AT + 150_000 })],
      }),
      [`500  4.2 s  retry in 2 min  ${URL}  (attempt 2)`, OWN, ...explained('', '500').slice(1)],
    ],
    [
      'whose retry nobody can time',
      attempt(),
      event({ state: 'held' }),
      [`500  4.2 s  retry later  ${URL}`, OWN, ...explained('', '500').slice(1)],
    ],
    [
      'whose event was dropped with its rule',
      attempt(),
      event({ state: 'dropped' }),
      [
        `500  4.2 s  dropped: the rule is paused  ${URL}`,
        ...[OWN, ...explained('', '500').slice(1)],
      ],
    ],
    [
      'that was acknowledged',
      attempt({
        ...{ response: { kind: 'status', status: 202 }, outcome: 'queued' },
        result: { next: 'acknowledged' },
      }),
      event({ state: 'acknowledged' }),
      [`202 queued  4.2 s  acknowledged  ${URL}`],
    ],
    [
      'that paused its rule at once',
      attempt({
        ...{ response: { kind: 'status', status: 404 } },
        result: { next: 'paused', reason: 'responded-404' },
      }),
      event({ state: 'failed' }),
      [
        `404  4.2 s  404: the rule is paused  ${URL}`,
        ...explained(
          'Receivers of these packages never send this status. It comes from a wrong path, another server, a proxy or the framework.',
          '404',
        ),
      ],
    ],
    [
      'that was the last',
      attempt({
        ...{ number: 6, response: { kind: 'timeout' } },
        result: { next: 'paused', reason: 'last-attempt-failed' },
      }),
      event({ state: 'failed' }),
      [
        `timeout  4.2 s  the last attempt failed: the rule is paused  ${URL}  (attempt 6)`,
        ...explained('The receiver did not respond in time.', 'timeout'),
      ],
    ],
    [
      'without a connection',
      attempt({ response: { kind: 'connection-error', code: 'ECONNREFUSED' } }),
      event({ nextAttemptAt: AT + 90_000 }),
      [
        `ECONNREFUSED  4.2 s  retry in 1 min  ${URL}`,
        ...explained('Nothing is listening at the address.', 'ECONNREFUSED'),
      ],
    ],
    [
      'with an outcome of ours',
      attempt({ response: { kind: 'status', status: 503 }, outcome: 'overloaded' }),
      event({ nextAttemptAt: AT + 90_000 }),
      [
        `503 overloaded  4.2 s  retry in 1 min  ${URL}`,
        ...explained('The receiver is already handling maxInFlight deliveries.', 'overloaded'),
      ],
    ],
    [
      'whose response chaos dropped: it is no failure of the receiver',
      attempt({
        ...{ dropped: true, outcome: 'handled', chaos: ['dropResponse', 'slowBody'] },
        response: { kind: 'connection-error', code: 'ECONNRESET' },
      }),
      event({ nextAttemptAt: AT + 90_000 }),
      [`ECONNRESET  4.2 s  response dropped (chaos)  ${URL}  (chaos: dropResponse, slowBody)`],
    ],
    [
      'that is a replay, which has to be refused',
      attempt({
        ...{ kind: 'replay', outcome: 'replayed', result: undefined as never },
        response: { kind: 'status', status: 409 },
      }),
      event({ copiedBy: 'resend' }),
      [`409 replayed  4.2 s  a replay, which changes nothing  ${URL}  (attempt 1; sent again)`],
    ],
  ])('%s', (_what, one, of, lines) => {
    expect(printed(one, of)).toEqual(lines);
  });

  test('that is in flight has neither a response nor an end', () => {
    const { response: _r, result: _s, endedAt: _e, tookMs: _t, ...begun } = attempt();
    const lines = attemptWriter(1_000)(colorsFor(false), event({ state: 'in-flight' }), begun);
    expect(lines.map(({ plain }) => plain)).toEqual([
      `03:04:05Z  call:started              call0000  …  0 ms  in flight  ${URL}`,
    ]);
  });

  test('that does not fit has its address on a second line, without what all of them share', () => {
    const [first, second] = printed(attempt(), event({ nextAttemptAt: AT + 330_000 }), 90);
    expect([first, second]).toEqual(['500', '           3000/hook  retry in 5 min']);
    const fine = attempt({
      response: { kind: 'status', status: 200 },
      result: { next: 'acknowledged' },
    });
    expect(printed(fine, event({ state: 'acknowledged' }), 70)).toEqual(['200  3000/hook']);
    const second2 = { ...fine, number: 2 };
    expect(printed(second2, event({ state: 'acknowledged' }), 90)).toEqual([
      ...['200', '           3000/hook  acknowledged  (attempt 2)'],
    ]);
  });
});

test('a failure is explained once for each receiver, until it fails in another way or succeeds', () => {
  const write = attemptWriter(1_000);
  const lines = (one: AttemptSummary) => write(colorsFor(false), event(), one).length;
  const other = attempt({ url: 'http://127.0.0.1:4000/hook' });
  const timeout = attempt({ response: { kind: 'timeout' } });
  const success = attempt({
    response: { kind: 'status', status: 200 },
    result: { next: 'acknowledged' },
  });
  const refusedReplay = attempt({ kind: 'replay', result: undefined as never });
  const all = [attempt(), attempt(), other, attempt(), timeout, timeout, attempt()];
  expect(all.map(lines)).toEqual([3, 1, 3, 1, 3, 1, 3]);
  expect([refusedReplay, attempt(), success, attempt(), other].map(lines)).toEqual([
    ...[1, 1, 1, 3, 1],
  ]);
});

test('an event that was not sent names its state, its receiver, and the rule to resume', () => {
  const { url: _url, ...removed } = event({ state: 'held' });
  const line = (of: WebhookEventSummary) => unsentLine(colorsFor(false), of).plain;
  const how = 'the rule is paused. To resume it: npx call-webhooks rules resume rule-1';
  expect([line(event({ state: 'dropped' })), line(removed)]).toEqual([
    `call:started  call0000  dropped for 3000/hook: ${how}`,
    `call:started  call0000  held for a removed action: ${how}`,
  ]);
});

test('events show has the response that chaos dropped, and what was changed on the way', async () => {
  const request = { url: URL, headers: { 'X-Own': '1' }, body: '{"b":2}' };
  const status = { kind: 'status', status: 200, headers: {}, body: '{"outcome":"handled"}' };
  const whole = {
    ...event({ copyOf: 'event0000000', copiedBy: 'duplicate', ruleName: 'A rule' }),
    body: '{"a":1}',
    attempts: [
      {
        ...attempt({ chaos: ['dropResponse'], dropped: true, outcome: 'handled' }),
        ...{ request, droppedResponse: status },
        response: { kind: 'connection-error', code: 'ECONNRESET' },
      },
    ],
  };
  const server = await receiver(({ url }) => ({
    ...{ status: 200, body: JSON.stringify(url.endsWith('/event0000001') ? whole : [whole]) },
  }));
  const env = { CALL_WEBHOOKS_SIMULATOR: `http://127.0.0.1:${server.port}` };
  const { code, stdout } = await run(['events', 'show', 'event'], { env, columns: 300 });
  await server.close();
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'call:started  waiting',
      'event     event0000001',
      'call      call00000001',
      'rule      rule-1 A rule',
      'action    action-1',
      `receiver  ${URL}`,
      'copy of   event0000000 (duplicate)',
      ...['  {', '    "a": 1', '  }', ''],
      'attempt 1  2026-01-02 03:04:05Z  ECONNRESET  4.2 s  response dropped (chaos)',
      '  chaos: dropResponse',
      ...[`  → POST ${URL}`, '    X-Own: 1', '    {', '      "b": 2', '    }'],
      ...['  ← 200', '    {', '      "outcome": "handled"', '    }', ''],
    ],
  ]);
});
