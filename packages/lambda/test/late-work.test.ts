import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { callWebhooks, generateSecret, sign, type LambdaHttpEvent } from '../src/index.ts';
import { documented } from './triggers.ts';

const secret = generateSecret();
const body = callBody('c1');
let now = 0;
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

async function invoke(timeout: number | undefined, handle: () => unknown, ackWithin = 50) {
  const logger = collectingLogger();
  const outcomes: string[] = [];
  const overdue = deferred();
  const handler = callWebhooks({
    ...{ secret, logger, ackWithin },
    onOutcome: ({ outcome, late }) => {
      outcomes.push(late ? `late ${outcome}` : outcome);
      overdue.resolve();
    },
    on: { 'call:completed': () => handle() },
  });
  const event = { ...documented('payload-2.0'), headers: await sign({ secret, body }), body };
  now = Date.now();
  const context = {
    getRemainingTimeInMillis: () => now + Number(timeout) - Date.now(),
  };
  const answer = handler(
    event as unknown as LambdaHttpEvent,
    timeout === undefined ? undefined : context,
  );
  let answered = false;
  void answer.then(() => (answered = true));
  const first = () => overdue.promise;
  return { answer, isAnswered: () => answered, outcomes, logger, first };
}

it('responds when a late handler has ended: what runs after the response is frozen', async () => {
  const end = deferred();
  const { answer, isAnswered, outcomes, first } = await invoke(29_000, () => end.promise);
  await jest.advanceTimersByTimeAsync(60);
  await first();
  await jest.advanceTimersByTimeAsync(20_000);
  expect([outcomes, isAnswered()]).toEqual([['deadline'], false]);
  end.resolve();
  expect((await answer).statusCode).toBe(503);
  expect(outcomes).toEqual(['deadline', 'late handled']);
});

it('responds a second before the timeout of the function, and says what happens', async () => {
  const { answer, isAnswered, logger } = await invoke(10_000, () => new Promise(() => undefined));
  await jest.advanceTimersByTimeAsync(8_900);
  expect(isAnswered()).toBe(false);
  await jest.advanceTimersByTimeAsync(101);
  expect((await answer).statusCode).toBe(503);
  expect(logger.lines.at(-1)).toContain('Lambda freezes it now');
});

it('does not wait where there is no context, as nothing is frozen there', async () => {
  const { answer } = await invoke(undefined, () => new Promise(() => undefined));
  await jest.advanceTimersByTimeAsync(60);
  expect((await answer).statusCode).toBe(503);
});

it('warns when the timeout of the function is shorter than ackWithin', async () => {
  const { answer, logger } = await invoke(3_000, () => undefined, 20_000);
  expect((await answer).statusCode).toBe(200);
  expect(logger.lines).toEqual([expect.stringContaining('ackWithin (20000 ms)')]);
  const { answer: enough, logger: quiet } = await invoke(29_000, () => undefined, 20_000);
  await enough;
  expect(quiet.lines).toEqual([]);
});
