import { describe, expect, it } from '@jest/globals';
import { type Outcome, type OutcomeCode, OUTCOMES } from '../../src/index.ts';
import { STATUS } from '../../src/internal.ts';
import { deliveryFields, type LineOptions, outcomeLine } from '../../src/report/reporter.ts';

/** The line of a verified delivery of the service. */
function lineOf(code: OutcomeCode, info: Partial<Outcome> = {}, options?: LineOptions) {
  const of = { source: 'webhook', webhookId: 'id-1', durationMs: 1 } as const;
  return outcomeLine({ outcome: code, status: STATUS[code], ...of, ...info }, 0, options);
}

describe('the line of an outcome', () => {
  it.each<[string, OutcomeCode]>([
    ['error', 'handler-failed'],
    ['error', 'store-unavailable'],
    ['error', 'dead-lettered'],
    ['warn', 'signature-mismatch'],
    ['warn', 'replayed'],
    ['warn', 'invalid-payload'],
  ])('has the level %s for %s', (level, code) => {
    expect(lineOf(code).level).toBe(level);
  });

  it('says what the outcome means if there is no error', () => {
    expect(lineOf('in-progress').message).toBe(
      `call-webhooks: 503 in-progress: ${OUTCOMES['in-progress'].when}`,
    );
  });

  it.each<[string, OutcomeCode, Partial<Outcome>]>([
    ['service', 'handler-failed', {}],
    ['reconciler', 'handler-failed', { source: 'reconcile' }],
    ['nobody', 'handler-failed', { source: 'redrive' }],
    ['nobody', 'dead-lettered', {}],
    ['nobody', 'replayed', {}],
  ])('says that %s retries: %s %j', (retriedBy, code, info) => {
    expect(lineOf(code, info).fields).toMatchObject({ retriedBy });
  });

  it('names the limit of attempts where an event goes to deadLetter, and nowhere else', () => {
    const limit = { maxAttempts: 3 };
    expect(lineOf('handler-failed', { attemptsLeft: 2 }, limit).fields).toMatchObject(limit);
    expect(lineOf('handler-failed', {}, limit).fields).not.toHaveProperty('maxAttempts');
  });

  it.each([
    [0, undefined],
    [1, 1],
    [19, 19],
  ])('with %d lines like it that were left out, it says %p', (suppressed, shown) => {
    const outcome = { outcome: 'replayed', status: 409, source: 'webhook', durationMs: 1 } as const;
    const { fields } = outcomeLine(outcome, suppressed);
    expect((fields as { suppressed?: number }).suppressed).toBe(shown);
  });

  it('says that the response went out before the handler ended', () => {
    expect(lineOf('handler-failed', { late: true }).fields).toMatchObject({ late: true });
    expect(lineOf('handler-failed').fields).not.toHaveProperty('late');
  });

  it('names the source of what the service did not send', () => {
    expect(lineOf('handler-failed', { source: 'redrive' }).fields).toMatchObject({
      source: 'redrive',
    });
    expect(lineOf('handler-failed').fields).not.toHaveProperty('source');
  });
});

describe('the line of a run of a job', () => {
  it.each<[string, string, OutcomeCode, number | undefined, number | undefined]>([
    ['warn', 'attempt 2 of 5 failed', 'handler-failed', 2, 5],
    ['warn', 'attempt 2 failed', 'handler-failed', 2, undefined],
    ['warn', 'attempt 1 failed', 'invalid-payload', undefined, undefined],
    ['error', 'gave up after 1 attempt', 'dead-lettered', 1, 5],
    ['error', 'gave up after 5 attempts', 'dead-lettered', 5, 5],
  ])('has the level %s, and says: %s', (level, said, code, attempt, maxAttempts) => {
    const attemptsLeft = maxAttempts === undefined ? undefined : maxAttempts - (attempt ?? 1);
    const run = { source: 'queue', queued: true, attempt, attemptsLeft } as Partial<Outcome>;
    expect(lineOf(code, run, { maxAttempts })).toStrictEqual({
      level,
      message: `call-webhooks: ${said}: ${OUTCOMES[code].when}`,
      fields: {
        ...{ outcome: code, webhookId: 'id-1', source: 'queue', durationMs: 1 },
        ...(attempt !== undefined && { attempt }),
        ...(maxAttempts !== undefined && { maxRuns: maxAttempts }),
        retriedBy: level === 'error' ? 'nobody' : 'queue',
        docs: `https://call-webhooks.github.io/call-webhooks/outcomes.html#${code}`,
      },
    });
  });
});

describe('the fields of a delivery', () => {
  it('name its tenant: as it is once it is verified, and as an id before', () => {
    const tenant = 'ada@example.com';
    expect(deliveryFields({ tenant, webhookId: 'id-1' })).toMatchObject({ tenant });
    expect(deliveryFields({ tenant })).toMatchObject({ tenant: '[redacted]' });
  });

  it('are only those that are known', () => {
    expect(deliveryFields({})).toStrictEqual({});
  });
});
