import { describe, expect, it } from '@jest/globals';
import { collectingLogger, queued } from '@call-webhooks/contract-tests';
import type { QueuedDelivery } from '../../src/index.ts';
import { addFailure, createJobProcessor, deadJobLetter } from '../../src/stores.ts';

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
    expect(letter.reason).toBe('invalid-payload');
    expect(letter.rawBody).toEqual(new Uint8Array()); // toMatchObject accepts anything for it
  });

  it('has all that is known of the job', () => {
    const { rawBody, ...letter } = deadJobLetter({
      ...{ id: '7', attempt: 2, failedAt: new Date(9_000), error: 'away' },
      failures: [
        { at: 5_000, attempt: 1, error: 'busy' },
        { at: 9_000, attempt: 2, error: 'away' },
      ],
      delivery: {
        ...{ tenant: 'acme', webhookId: 'id-1', timestamp: 4, receivedAt: 4_500, key: 'key-1' },
        ...{ eventName: 'call:moved', body: btoa('{"eventName":"in the body","callId":"c"}') },
      },
    });
    expect(Buffer.from(rawBody).toString()).toBe('{"eventName":"in the body","callId":"c"}');
    expect(letter).toStrictEqual({
      ...{ id: '7', reason: 'handler-failed', source: 'queue', attempt: 2, error: 'away' },
      ...{ tenant: 'acme', webhookId: 'id-1', key: 'key-1', eventName: 'call:moved', callId: 'c' },
      ...{ timestamp: new Date(4_000), failedAt: new Date(9_000) },
      history: [
        { at: new Date(5_000), source: 'queue', attempt: 1, error: 'busy' },
        { at: new Date(9_000), source: 'queue', attempt: 2, error: 'away' },
      ],
    });
  });

  it.each(['{}', '{"eventName":7,"callId":["c"]}'])(
    'has no field that the job has no value for: %s',
    (body) => {
      const { rawBody: _rawBody, ...letter } = deadJobLetter({
        ...{ id: '7', attempt: 1, failedAt: new Date(9_000), error: 'away' },
        delivery: { webhookId: 'id-1', timestamp: 4, receivedAt: 4_500, body: btoa(body) },
      });
      expect(letter).toStrictEqual({
        ...{ id: '7', reason: 'handler-failed', source: 'queue', attempt: 1, error: 'away' },
        ...{ webhookId: 'id-1', timestamp: new Date(4_000), failedAt: new Date(9_000) },
        history: [{ at: new Date(9_000), source: 'queue', attempt: 1, error: 'away' }],
      });
    },
  );

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
