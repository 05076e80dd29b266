import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { OUTCOMES, type OutcomeCode } from '@call-webhooks/core';
import { PLANTED } from '@call-webhooks/contract-tests/planted';
import { RECEIVER } from './receiver-rows.ts';
import { NOW, toldBy, type Row } from './under-test.ts';
import { TOLD_BY_RECEIVER } from './told-by-receiver.ts';
import { TOLD_BY_WORKER } from './told-by-worker.ts';
import { WORKER } from './worker-rows.ts';

beforeEach(() => {
  jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => void jest.useRealTimers());

const rowsOf = (rows: Partial<Record<OutcomeCode, Row>>) =>
  Object.entries(rows) as [OutcomeCode, Row][];

it('each outcome has a row', () => {
  expect(Object.keys(RECEIVER)).toEqual(Object.keys(OUTCOMES));
});

describe.each([
  ['a receiver', RECEIVER, TOLD_BY_RECEIVER],
  ['a worker', WORKER, TOLD_BY_WORKER],
])('in %s', (_where, rows, told) => {
  it.each(rowsOf(rows))('%s: log line, span, metrics and hooks', async (code, row) => {
    const { code: reached, signals, lines, rest } = await toldBy(row, 'ordinary');
    expect(reached).toBe(code);
    expect(signals.split('\n')).toEqual(told[code]);
    expect(lines).not.toMatch(PLANTED);
    expect(rest).not.toMatch(PLANTED);
  });

  it.each(rowsOf(rows))('%s: nothing of planted ids', async (code, row) => {
    const { code: reached, lines, rest } = await toldBy(row, 'planted');
    expect(reached).toBe(code);
    expect(lines).not.toMatch(PLANTED);
    expect(rest).not.toMatch(PLANTED);
  });

  it.each(rowsOf(rows))('%s: with redact "off", log lines alone tell more', async (_code, row) => {
    const { rest } = await toldBy(row, 'planted', 'off');
    expect(rest).not.toMatch(PLANTED);
  });
});

it('with redact "off", the log line of a failed handler has what it threw', async () => {
  const { lines } = await toldBy(RECEIVER['handler-failed'], 'ordinary', 'off');
  expect(lines).toMatch(PLANTED);
});

it('onError gets what was thrown', async () => {
  const { errors } = await toldBy(RECEIVER['handler-failed'], 'ordinary');
  expect(errors).toMatchObject([{ message: 'fetch failed', cause: { code: 'ECONNREFUSED' } }]);
});
