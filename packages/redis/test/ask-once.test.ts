import { describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { AskOnce } from '../src/ask-once.ts';

/** Lets promises that are settled run their callbacks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a question to the server', () => {
  it('is not asked before the first check, and not twice while it waits for its answer', async () => {
    const answer = deferred();
    const ask = jest.fn(() => answer.promise);
    const question = new AskOnce(ask);
    expect(ask).not.toHaveBeenCalled();
    question.check();
    question.check();
    expect(ask).toHaveBeenCalledTimes(1);
    answer.resolve();
    await settled();
    question.check();
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('is asked again after it failed, until there is an answer', async () => {
    const ask = jest.fn(() => Promise.resolve());
    ask.mockRejectedValueOnce(new Error('down')).mockRejectedValueOnce(new Error('down'));
    const question = new AskOnce(ask);
    for (let i = 0; i < 5; i++) {
      question.check();
      await settled();
    }
    expect(ask).toHaveBeenCalledTimes(3);
  });
});
