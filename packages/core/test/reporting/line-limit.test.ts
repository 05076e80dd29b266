import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { OUTCOMES, type OutcomeCode, WebhookError } from '../../src/index.ts';
import { Reporter } from '../../src/report/reporter.ts';
import { LineLimit } from '../../src/stores.ts';
import { Lines } from '../support.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('a line passes every 10 s, with the number of those that were left out since the last one', () => {
  const limit = new LineLimit();
  const asked: [afterMs: number, passed: number | undefined][] = [
    [0, 0],
    [0, undefined],
    [9_999, undefined],
    [1, 2],
    [9_999, undefined],
    [1, 1],
    [10_000, 0],
    [500, undefined],
    [60_000, 1],
    [60_000, 0],
  ];
  for (const [afterMs, passed] of asked) {
    jest.advanceTimersByTime(afterMs);
    expect(limit.pass()).toBe(passed);
  }
  expect(new LineLimit().pass()).toBe(0);
});

/** What anybody can send without a secret, and what an outage repeats, gets one line in 10 s. */
const LINES_OF_THREE: Record<OutcomeCode, [lines: number, levels?: string, ofTenant?: number]> = {
  handled: [0],
  duplicate: [0],
  ignored: [1, 'warn'],
  queued: [0],
  'dead-lettered': [3, 'error'],
  'in-dead-letters': [0],
  'missing-header': [1, 'warn'],
  'malformed-header': [1, 'warn'],
  'timestamp-out-of-tolerance': [1, 'warn'],
  'signature-mismatch': [1, 'warn'],
  'method-not-allowed': [1, 'warn'],
  'body-timeout': [1, 'warn'],
  replayed: [1, 'warn'],
  'body-too-large': [1, 'warn'],
  'unsupported-encoding': [1, 'warn'],
  'invalid-payload': [3, 'warn'],
  'handler-failed': [3, 'error'],
  'body-already-parsed': [1, 'error'],
  'in-progress': [3, 'error'],
  deadline: [3, 'error'],
  overloaded: [3, 'error', 1],
  'store-unavailable': [1, 'error'],
  'secret-unavailable': [1, 'error'],
  'shutting-down': [3, 'error'],
};

it.each(Object.keys(OUTCOMES) as OutcomeCode[])(
  'three deliveries within 10 s that end as %s have the lines that they should, and so has a fourth',
  (outcome) => {
    const [lines, level, ofTenant = lines] = LINES_OF_THREE[outcome];
    const told = [undefined, 'acme'].map((tenant) => {
      const logger = new Lines();
      const reporter = new Reporter({});
      const isError = OUTCOMES[outcome].status >= 400 || outcome === 'dead-lettered';
      const result = {
        outcome,
        ...(isError && { error: new WebhookError(outcome, 'It says why.') }),
      };
      const pending = { source: 'webhook', ...(tenant !== undefined && { tenant }) } as const;
      const report = () => reporter.report(performance.now(), pending, result, logger);
      for (let times = 0; times < 3; times++) report();
      const levels = new Set(logger.entries.map((line) => line.level));
      const ofThree = logger.entries.length;
      jest.advanceTimersByTime(10_000);
      report();
      const later = logger.entries.slice(ofThree).map(({ fields }) => fields['suppressed'] ?? 0);
      return [ofThree, [...levels].join(), later];
    });
    const later = (count: number) => {
      if (count === 0 || outcome === 'ignored') return []; // its name is told once
      return [count === 1 ? 2 : 0];
    };
    expect(told).toEqual([
      [lines, level ?? '', later(lines)],
      [ofTenant, level ?? '', later(ofTenant)],
    ]);
  },
);
