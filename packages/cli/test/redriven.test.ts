import { expect, test } from '@jest/globals';
import { closing, fill, setup } from './support/dead-letters.ts';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

// What becomes of a dead letter and of its event, by what the receiver answers: an event whose handler may be running
// stays free for it, and every other one that was not taken is dead-lettered again.

const OUT = { handled: 0, queued: 0, alreadyHandled: 0, failed: 0, unknown: 0, skipped: 0 };
const stays = (state: string | undefined, failures: number) => ({ state, failures });
const GONE = { state: undefined, failures: 0 };

type Row = readonly [
  answer: readonly [status: number, outcome: string] | 'none' | 'closed',
  code: number,
  result: string,
  after: { state: string | undefined; failures: number },
];
const ROWS: readonly Row[] = [
  [[200, 'handled'], 0, 'handled', GONE],
  [[202, 'queued'], 0, 'queued', GONE],
  [[200, 'duplicate'], 0, 'alreadyHandled', GONE],
  [[200, 'ignored'], 0, 'skipped', stays(undefined, 1)],
  [[200, 'dead-lettered'], 1, 'failed', stays(undefined, 2)],
  [[500, 'handler-failed'], 1, 'failed', stays('dead-lettered', 2)],
  [[422, 'invalid-payload'], 1, 'failed', stays('dead-lettered', 2)],
  [[503, 'deadline'], 1, 'unknown', stays(undefined, 1)],
  [[503, 'in-progress'], 0, 'skipped', stays(undefined, 1)],
  ['none', 1, 'unknown', stays(undefined, 1)],
  ['closed', 1, 'unknown', stays('dead-lettered', 1)],
  // Others would end alike, so nothing more is sent.
  [[503, 'overloaded'], 1, '', stays('dead-lettered', 1)],
  [[503, 'shutting-down'], 1, '', stays('dead-lettered', 1)],
  [[401, 'signature-mismatch'], 1, '', stays('dead-lettered', 1)],
  [[404, ''], 1, '', stays('dead-lettered', 1)],
];

test.each(ROWS)('%j ends with %d: %s', async (answer, code, result, after) => {
  const made = await setup();
  const [key = ''] = await fill(made, 1);
  const server = await receiver(({ body: _body }) => {
    if (typeof answer === 'string') return undefined;
    const [status, outcome] = answer;
    return { status, body: JSON.stringify({ outcome }) };
  });
  closing.push(() => server.close());
  const argv = ['dead-letters', 'redrive', '--all', '--to', server.url, '--timeout', '300ms'];
  const running = run([...argv, '--json'], made);
  if (answer === 'closed') {
    while (server.received.length === 0) await new Promise(setImmediate);
    server.hangUp();
  }
  const ran = await running;
  const [letter, counts] = ran.records();
  expect([ran.code, letter?.['result'] ?? '']).toEqual([code, result]);
  if (result !== '') expect(counts).toEqual({ type: 'result', ...OUT, notFound: 0, [result]: 1 });
  const { letters } = await made.deadLetters.list();
  expect({
    state: (await made.store.peek?.([key]))?.[0],
    failures: letters.reduce((sum, { history }) => sum + history.length, 0),
  }).toEqual(after);
  // It can be redriven at once.
  expect(letters.map(({ claimedUntil }) => claimedUntil)).toEqual(letters.map(() => undefined));
  expect(server.received).toHaveLength(1);
});
