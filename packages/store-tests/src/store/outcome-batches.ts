import expect from '../../expect.cjs';
import type { LogProcess, OutcomeBatch, OutcomeLog, OutcomeRow } from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import type { StoreTestContext } from './under-test.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Makes what a process writes to the log of the store under test. */
export function outcomeBatches({ store, connections, now }: StoreTestContext) {
  const row = (more: Partial<OutcomeRow> = {}): OutcomeRow => ({
    at: now(),
    process: 'p1',
    outcome: 'handled',
    source: 'webhook',
    durationMs: 1.5,
    webhookId: unique('webhook'),
    ...more,
  });

  const failure = (more: Partial<OutcomeRow> = {}): OutcomeRow =>
    row({ outcome: 'handler-failed', error: 'The handler failed.', ...more });

  const writer = (more: Partial<LogProcess> = {}): LogProcess => ({
    ...{ id: 'p1', host: 'h', pid: 1, startedAt: now() - 5, at: now(), inFlight: 2 },
    ...more,
  });

  const batch = (more: Partial<OutcomeBatch> = {}): OutcomeBatch => ({
    id: unique('batch'),
    process: writer(),
    ...{ rows: [], failures: [], counts: {}, marks: {} },
    ...more,
  });

  /** Reads pages until the log ends, or `isEnough`. */
  async function pagesOf(
    log: OutcomeLog,
    query: Parameters<OutcomeLog['read']>[0],
    isEnough = (_rows: readonly OutcomeRow[]) => false,
  ): Promise<OutcomeRow[][]> {
    const pages: OutcomeRow[][] = [];
    let before: string | undefined;
    do {
      const page = await log.read({ ...query, before });
      pages.push(page.rows);
      // A cursor that leads back must not keep the test busy for ever.
      if (before !== undefined) expect(page.before).not.toBe(before);
      before = page.before;
    } while (before !== undefined && !isEnough(pages.at(-1)!));
    return pages;
  }

  return {
    log: () => store().log!,
    logs: () => connections().map((one) => one.log!),
    ...{ row, failure, writer, batch, pagesOf },
  };
}
