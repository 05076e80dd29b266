import { describe, expect, it } from '@jest/globals';
import { collectingLogger, queued } from '@call-webhooks/contract-tests';
import {
  addFailure,
  createJobProcessor,
  deadJobLetter,
  type QueuedDelivery,
} from '../../src/index.ts';

const process = createJobProcessor({
  logger: collectingLogger(),
  on: {
    'call:completed': () => {
      throw new Error('the CRM is down');
    },
    'call:moved': () => undefined,
    'call:lost': () => undefined,
  },
  events: {
    'call:moved': {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: () => ({ issues: [{ message: 'expected a place', path: ['place'] }] }),
      },
    },
    'call:lost': {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: () => {
          throw new Error('no');
        },
      },
    },
  },
});

/** The letter of a job whose last attempt ended so. */
async function letterOf(delivery: QueuedDelivery, abandonReason?: Error) {
  const result = await process(delivery, { attempt: 3, isLastAttempt: true, abandonReason });
  if (result.status !== 'dead') throw new Error('not dead');
  const { message: error } = result.error;
  return deadJobLetter({ id: '1', delivery, attempt: 3, failedAt: new Date(5), error });
}
const of = (text: string) => queued(Buffer.from(text));

describe('the dead letter of a dead job', () => {
  it.each([
    ['no JSON'],
    [`${'['.repeat(2_000)}${']'.repeat(2_000)}`],
    ['{"eventName":"call:moved","callId":"c"}'],
    ['{"eventName":"call:lost","callId":"c"}'],
  ])('has the reason invalid-payload: %#', async (body) => {
    expect(await letterOf(of(body))).toMatchObject({ reason: 'invalid-payload', history: [{}] });
  });

  it('has it for a body that is no text, or no base64', async () => {
    const bytes = queued(Uint8Array.from([0xff, 0xfe]));
    expect(await letterOf(bytes)).toMatchObject({ reason: 'invalid-payload' });
    const letter = await letterOf({ ...bytes, body: '***' });
    expect(letter).toMatchObject({ reason: 'invalid-payload', rawBody: new Uint8Array() });
  });

  it('has the reason handler-failed, also for crashes', async () => {
    const delivery = of('{"eventName":"call:completed","callId":"c"}');
    const known = { reason: 'handler-failed', eventName: 'call:completed', callId: 'c' };
    expect(await letterOf(delivery)).toMatchObject(known);
    const crash = new Error('6 workers died in this job.');
    expect(await letterOf(delivery, crash)).toMatchObject({ ...known, error: crash.message });
  });

  it('has at most 50 failures, without NUL', () => {
    let failures: ReturnType<typeof addFailure> = [];
    for (let attempt = 1; attempt <= 60; attempt++)
      failures = addFailure(failures, { at: attempt, attempt, error: 'a\0b' });
    expect(failures.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 11),
    );
    expect(failures[0]!.error).toBe('a\ufffdb');
  });
});
