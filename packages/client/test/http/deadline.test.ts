import { expect, test } from '@jest/globals';
import { TimeoutError } from '../../src/errors/index.ts';
import { createDeadline } from '../../src/http/deadline.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';

const never = (): Promise<never> => new Promise(() => undefined);

test('the limit runs during a step, and not between steps', async () => {
  const clock = new TestClock();
  const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
  await deadline.run('headers', async () => expect(clock.armed).toBe(1));
  expect(clock.armed).toBe(0);
  const step = deadline.run('body', never);
  clock.expire();
  await expect(step).rejects.toBeInstanceOf(TimeoutError);
  expect(deadline.signal.aborted).toBe(true);
});

test('whatever the step throws after an abort, the reason of the abort is what counts', async () => {
  const caller = new AbortController();
  const deadline = createDeadline(new TestClock(), TIMEOUT, 'GET /', caller.signal);
  const step = deadline.run('headers', async () => {
    caller.abort(new Error('the caller'));
    throw new Error('of fetch');
  });
  await expect(step).rejects.toThrow('the caller');
  await expect(deadline.run('body', never)).rejects.toThrow('the caller');
});

test('follows a signal that is aborted already, and lets go of one when it is closed', () => {
  const before = createDeadline(new TestClock(), TIMEOUT, 'GET /', AbortSignal.abort());
  expect(before.signal.aborted).toBe(true);
  const caller = new AbortController();
  const closed = createDeadline(new TestClock(), TIMEOUT, 'GET /', caller.signal);
  closed.close();
  caller.abort();
  expect(closed.signal.aborted).toBe(false);
});
