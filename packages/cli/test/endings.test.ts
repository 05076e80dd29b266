import { expect, test } from '@jest/globals';
import { type OutcomeCode, OUTCOMES } from '@call-webhooks/core';
import { type Answer, endingOf, isTaken, mayBeRunning, postSigned } from '../src/input/target.ts';
import { isSigned, receiver, SECRET } from './support/receiver.ts';

// What redrive and reconcile make of each answer of a receiver: whether the event is done, whether its handler may
// still run, and what to do where the receiver took nothing, since all other events would end alike.

const TARGET = { url: 'http://127.0.0.1:3000/hook', secret: 'whsec_', timeout: 31_000 };
const answer = (status: number, code?: OutcomeCode): Answer => ({
  ...{ code, result: { kind: 'status', status, headers: {}, body: Buffer.alloc(0), ms: 1 } },
});

function judged(given: Answer) {
  const known = { isTaken: isTaken(given), mayRun: mayBeRunning(given) };
  try {
    return { ...known, ...endingOf(given, TARGET, 'Nothing was lost.') };
  } catch (error) {
    const { exitCode, message, fix } = error as { exitCode: number; message: string; fix: string };
    return { ...known, exitCode, message, fix };
  }
}

const TAKEN = ['handled', 'duplicate', 'ignored', 'queued', 'dead-lettered', 'in-dead-letters'];
const FAILED = ['handler-failed', 'invalid-payload'];
const RUNNING = ['deadline', 'in-progress'];
/** Where a flag may be wrong. Everything else is to be mended at the receiver. */
const FLAGS: Record<string, string> = {
  'signature-mismatch': 'Check --secret.',
  'missing-header': 'Check --header-prefix.',
};

test.each(Object.entries(OUTCOMES))('%s', (code, { status, fix }) => {
  const known = { isTaken: TAKEN.includes(code), mayRun: RUNNING.includes(code) };
  const message = `The receiver returned ${String(status)} ${code}.`;
  const isEnd = [...TAKEN, ...FAILED, ...RUNNING].includes(code);
  expect(judged(answer(status, code as OutcomeCode))).toEqual(
    isEnd
      ? {
          ...known,
          code,
          message: FAILED.includes(code) ? `${message} The error is in its log.` : message,
        }
      : { ...known, exitCode: 1, message, fix: `${FLAGS[code] ?? fix} Nothing was lost.` },
  );
});

const PATH = "Check that --to is the receiver's path.";
const LOG = "Read the receiver's log, and that of the proxy in front of it.";

test.each([
  [200, PATH],
  [204, PATH],
  [302, PATH],
  [400, PATH],
  [401, 'Check --secret.'],
  [403, PATH],
  [404, PATH],
  [499, PATH],
  [500, LOG],
  [502, LOG],
  [599, LOG],
])('%d without an outcome', (status, fix) => {
  expect(judged(answer(status))).toEqual({
    ...{ isTaken: false, mayRun: false, exitCode: 1 },
    message: `The receiver returned ${String(status)} without an outcome.`,
    fix: `${fix} Nothing was lost.`,
  });
});

test('no answer in time, and a connection that breaks: the handler may run', () => {
  const none = { isTaken: false, mayRun: true, code: 'deadline' };
  expect(judged({ code: undefined, result: { kind: 'timeout', ms: 31_000 } })).toEqual({
    ...{ ...none, message: 'There was no response in 31 s.' },
  });
  const reset = { kind: 'connection-error', code: 'ECONNRESET', ms: 1 } as const;
  expect(judged({ code: undefined, result: reset })).toEqual({
    ...{ ...none, mayRun: false },
    message: 'The connection broke before there was a response (ECONNRESET).',
  });
  const refused = { kind: 'connection-error', code: 'ECONNREFUSED', ms: 1 } as const;
  expect(judged({ code: undefined, result: refused })).toEqual({
    ...{ isTaken: false, mayRun: false, exitCode: 3, fix: 'Start the receiver first.' },
    message: `Nothing is listening at the address: ${TARGET.url} (ECONNREFUSED).`,
  });
});

test.each<[status: number, body: string, code: OutcomeCode | undefined]>([
  [200, '{"outcome":"handled"}', 'handled'],
  [202, '{"outcome":"queued","more":1}', 'queued'],
  [422, '{"outcome":"invalid-payload"}', 'invalid-payload'],
  // Something between us and the receiver has its own status, so it may have made up the rest as well.
  [201, '{"outcome":"handled"}', undefined],
  [500, '{"outcome":"handled"}', undefined],
  [200, '{"outcome":"handler-failed"}', undefined],
  [200, '{"outcome":"new-outcome"}', undefined],
  [200, '{"outcome":"toString"}', undefined],
  [200, '{"outcome":null}', undefined],
  [200, 'null', undefined],
  [200, '[]', undefined],
  [200, 'handled', undefined],
  [200, '', undefined],
])('a response with %d and %s has the outcome %s', async (status, body, code) => {
  const server = await receiver(() => ({ status, body }));
  const target = { ...TARGET, url: server.url, secret: SECRET };
  const sent = Buffer.from('{"a": 1}');
  const answered = await postSigned(sent, target, 'redrive-3:id');
  expect(answered).toEqual({
    code,
    result: expect.objectContaining({ kind: 'status', status, body: Buffer.from(body) }),
  });
  const [one] = server.received;
  expect([isSigned(one!), String(one?.body), one?.headers['x-service-webhook-id']]).toEqual([
    ...[true, '{"a": 1}', 'redrive-3:id'],
  ]);
  await server.close();
});
