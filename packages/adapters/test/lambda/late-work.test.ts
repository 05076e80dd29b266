import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { callBody, collectingLogger, deferred, soon } from '@call-webhooks/contract-tests';
import { callWebhooks, generateSecret, sign, type LambdaHttpEvent } from '../../src/lambda.ts';
import { documented } from './triggers.ts';

const secret = generateSecret();
const docs: unknown = expect.stringMatching(/serverless\.html#work-after-the-response$/);
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
  const signed = async () => ({
    ...documented('payload-2.0'),
    headers: await sign({ secret, body }),
    body,
  });
  const event = await signed();
  now = Date.now();
  const context = {
    getRemainingTimeInMillis: () => now + Number(timeout) - Date.now(),
  };
  const send = (given: object) =>
    soon(
      handler(given as LambdaHttpEvent, timeout === undefined ? undefined : context),
      'The function did not respond.',
    );
  const answer = send(event);
  const again = async () => send(await signed());
  let answered = false;
  void answer.then(() => (answered = true));
  const first = () => soon(overdue.promise, 'The function reported no outcome.');
  return { answer, isAnswered: () => answered, outcomes, logger, first, again };
}

it('responds when a late handler has ended: what runs after the response is frozen', async () => {
  const end = deferred();
  const { answer, isAnswered, outcomes, first, logger } = await invoke(29_000, () => end.promise);
  await jest.advanceTimersByTimeAsync(60);
  await first();
  await jest.advanceTimersByTimeAsync(20_000);
  expect([outcomes, isAnswered()]).toEqual([['deadline'], false]);
  end.resolve();
  expect((await answer).statusCode).toBe(503);
  expect(outcomes).toEqual(['deadline', 'late handled']);
  expect(logger.lines.join()).not.toContain('Lambda will now freeze it');
});

it('leaves no timer when it has responded', async () => {
  await (
    await invoke(29_000, () => undefined)
  ).answer;
  const ofReceiver = jest.getTimerCount();
  jest.clearAllTimers();
  const { answer } = await invoke(29_000, () => new Promise((resolve) => setTimeout(resolve, 100)));
  await jest.advanceTimersByTimeAsync(100);
  await answer;
  expect(jest.getTimerCount()).toBe(ofReceiver);
});

it('responds a second before the timeout of the function, and says what happens', async () => {
  const { answer, isAnswered, logger } = await invoke(10_000, () => new Promise(() => undefined));
  await jest.advanceTimersByTimeAsync(8_900);
  expect(isAnswered()).toBe(false);
  await jest.advanceTimersByTimeAsync(101);
  expect((await answer).statusCode).toBe(503);
  expect(logger.entries.at(-1)).toEqual({
    level: 'warn',
    fields: { docs },
    message: expect.stringContaining('Lambda will now freeze it') as unknown,
  });
});

it('does not wait where there is no context, as nothing is frozen there', async () => {
  const { answer } = await invoke(undefined, () => new Promise(() => undefined));
  await jest.advanceTimersByTimeAsync(60);
  expect((await answer).statusCode).toBe(503);
});

it('warns once when the timeout of the function is not a second more than ackWithin', async () => {
  const { answer, logger, again } = await invoke(20_999, () => undefined, 20_000);
  expect((await answer).statusCode).toBe(200);
  await again();
  expect(logger.entries).toEqual([
    {
      level: 'warn',
      fields: { ackWithin: 20_000, remaining: 20_999, docs },
      message: expect.stringContaining('ackWithin (20000 ms)') as unknown,
    },
  ]);
  const { answer: enough, logger: quiet } = await invoke(21_000, () => undefined, 20_000);
  await enough;
  expect(quiet.lines).toEqual([]);
});
