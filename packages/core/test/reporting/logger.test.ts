import { expect, it } from '@jest/globals';
import { createReceiver, generateSecret, sign } from '../../src/index.ts';
import { safeLogger } from '../../src/reporting/logger.ts';

const broken = () => {
  throw new Error('the log disk is full');
};

it('passes lines on, and drops what the logger throws', () => {
  const lines: string[] = [];
  const half = safeLogger({ warn: (line) => lines.push(line), error: broken });
  half.warn('a');
  half.error('b');
  expect(lines).toEqual(['a']);
});

it('a broken logger does not change the answer, nor keep the lease', async () => {
  const secret = generateSecret();
  let runs = 0;
  const receiver = createReceiver({
    secret,
    maxAttempts: 1,
    logger: { warn: broken, error: broken },
    deadLetter: broken,
    on: {
      'call:completed': () => {
        runs += 1;
        throw new Error('poison');
      },
    },
  });
  const body = new TextEncoder().encode('{"eventName":"call:completed","callId":"c1"}');
  const post = async () => receiver.receive({ headers: await sign({ secret, body }), body });
  expect((await post()).outcome.outcome).toBe('handler-failed');
  expect((await post()).outcome.outcome).toBe('handler-failed');
  expect(runs).toBe(2); // so the lease of the first was given back
});
