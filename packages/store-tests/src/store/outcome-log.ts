import expect from '../../expect.cjs';
import { LOG_LIMITS, type OutcomeRow } from '@call-webhooks/core/stores';
import { badCursors } from '../bad-cursors.ts';
import { unique } from '../unique.ts';
import { HOUR_MS, MINUTE_MS, outcomeBatches } from './outcome-batches.ts';
import type { StoreTestContext } from './under-test.ts';

/** What every log must do with the rows of outcomes. */
export function outcomeLog(context: StoreTestContext): void {
  const { it, now, advance } = context;
  const { log, logs, row, failure, writer, batch, pagesOf } = outcomeBatches(context);
  const idsOf = (rows: readonly OutcomeRow[]) => rows.map(({ webhookId }) => webhookId);

  it('gives the newest rows first, page by page, on every connection', async () => {
    const first = [row({ at: now() - 2 }), row({ at: now() - 1, late: true, attempt: 2 })];
    const second = [row({ tenant: 'acme', secretId: 's1', handlerMs: 0.5, lagMs: 0 })];
    for (const rows of [first, second]) await log().append(batch({ rows }));
    const expected = [second[0], first[1], first[0]];
    for (const one of logs()) {
      const pages = await pagesOf(one, { batches: 1 }, (page) => page.includes(first[0]!));
      expect(pages.flat().slice(0, 3)).toEqual(expected);
      expect((await one.read()).rows.slice(0, 3)).toEqual(expected);
      expect((await one.read({ batches: 1 })).rows).toEqual(second);
    }
  });

  it('pages over failures and other rows in one order, or over the failures alone', async () => {
    const written: OutcomeRow[] = [];
    for (let n = 0; n < 12; n++) {
      const rows = n % 3 === 1 ? [] : [row({ at: now() - 2 })];
      const failures = n % 3 === 2 ? [] : [failure({ at: now() - 1 }), failure({ at: now() })];
      await log().append(batch({ rows, failures }));
      written.unshift(...[...rows, ...failures].reverse());
    }
    const failed = written.filter(({ outcome }) => outcome === 'handler-failed');
    for (const batches of [1, 2, 5, 50]) {
      const isEnough = (page: readonly OutcomeRow[]) =>
        idsOf(page).includes(written.at(-1)!.webhookId);
      const pages = await pagesOf(log(), { batches }, isEnough);
      expect(idsOf(pages.flat()).slice(0, written.length)).toEqual(idsOf(written));
      const only = await pagesOf(log(), { batches, only: 'failures' }, (page) =>
        idsOf(page).includes(failed.at(-1)!.webhookId),
      );
      expect(idsOf(only.flat()).slice(0, failed.length)).toEqual(idsOf(failed));
    }
  });

  it('gives the rows of a stretch of time, also those that were written much later', async () => {
    const tenant = unique('tenant');
    const at = (hours: number) => now() - hours * HOUR_MS;
    const rowsAt = (...hours: number[]) => hours.map((ago) => row({ at: at(ago), tenant }));
    const early = batch({ rows: rowsAt(9, 8, 7), failures: [failure({ at: at(8.5), tenant })] });
    // As after an outage of the store.
    const long = batch({ rows: rowsAt(10, 3, 1) });
    for (const one of [early, long, batch({ rows: rowsAt(2, 0.5) })]) await log().append(one);
    const ago = async (since: number, until: number, more: object = {}) => {
      const stretch = { since: at(since), until: at(until), ...more };
      const found = (await pagesOf(log(), stretch)).flat().filter((one) => one.tenant === tenant);
      return found.map((one) => Math.round(((now() - one.at) / HOUR_MS) * 2) / 2).sort();
    };
    expect(await ago(9.1, 7.9)).toEqual([8, 8.5, 9]);
    expect(await ago(9.1, 7.9, { batches: 1 })).toEqual([8, 8.5, 9]);
    expect(await ago(9.1, 7.9, { only: 'failures' })).toEqual([8.5]);
    expect(await ago(3.1, 0.9)).toEqual([1, 2, 3]);
    expect(await ago(6, 4)).toEqual([]);
    const since = (await pagesOf(log(), { since: at(2.1) })).flat();
    expect(since.filter((one) => one.tenant === tenant)).toHaveLength(3);
  });

  it('refuses a cursor that no page of the log gave', async () => {
    for (let written = 0; written < 3; written++) await log().append(batch({ rows: [row()] }));
    const { before } = await log().read({ batches: 1 });
    expect((await log().read({ before, batches: 1 })).rows).toHaveLength(1);
    for (const garbage of [...badCursors(before!), '1.5', 'k3.0123456789abcdef01234567'])
      await expect(log().read({ before: garbage })).rejects.toMatchObject({
        name: 'WebhookError',
        code: 'invalid-cursor',
      });
  });

  it('keeps the rows of a batch once, however often and on whatever connection it is appended', async () => {
    const once = batch({ rows: [row()], failures: [failure()] });
    const again = () => ({ ...once, process: writer({ at: now() + 1 }) });
    await Promise.all(logs().flatMap((one) => [one.append(once), one.append(again())]));
    await log().append(batch({ rows: [row()] }));
    await log().append(again());
    const { rows } = await log().read({ batches: 5 });
    for (const { webhookId } of [...once.rows, ...once.failures])
      expect(idsOf(rows).filter((id) => id === webhookId)).toHaveLength(1);
  });

  it('accepts any text in a row', async () => {
    const odd = { callId: '__proto__', error: `'; -- \\ $1 ? \0 \ud83d \u2028 "é\u{1f4de}` };
    const at = now();
    const [one, other] = [row({ ...odd, at }), failure({ ...odd, at })];
    await log().append(batch({ rows: [one], failures: [other] }));
    expect((await log().read({ batches: 1 })).rows).toEqual([one, other]);
  });

  for (const off of [4, -4])
    it(`has rows by its own clock, if that of a process is off by ${off} minutes`, async () => {
      const offMs = off * MINUTE_MS;
      const wrong = now() + offMs;
      const tenant = unique('tenant');
      const rows = [2_000, 1_000].map((ago) => row({ at: wrong - ago, tenant }));
      await log().append(
        batch({ process: writer({ at: wrong }), rows, failures: [failure({ at: wrong })] }),
      );
      const found = (await log().read({ batches: 1 })).rows.map(({ at }) => now() - at);
      for (const [index, ago] of found.entries()) {
        expect(ago).toBeGreaterThanOrEqual(index * 1_000);
        expect(ago).toBeLessThan(index * 1_000 + 5_000);
      }
      expect(found).toHaveLength(3);
      expect((await log().read({ batches: 1, since: now() - 60_000 })).rows).toHaveLength(3);
      const earlier = (await log().read({ until: now() - 60_000 })).rows;
      expect(earlier.some(({ tenant: of }) => of === tenant)).toBe(false);
    });

  it('keeps a failure of yesterday through thousands of deliveries', async () => {
    const failed = failure({ at: now() - 24 * HOUR_MS });
    await log().append(batch({ failures: [failed] }));
    for (let written = 0; written < 1_025; written += 41)
      await Promise.all(
        Array.from({ length: 41 }, () => log().append(batch({ rows: [row(), row()] }))),
      );
    const { pages, ids } = await pagesOf(log(), { only: 'failures' }).then((found) => ({
      pages: found,
      ids: idsOf(found.flat()),
    }));
    expect(ids).toContain(failed.webhookId);
    expect(pages.flat().every(({ outcome }) => outcome === 'handler-failed')).toBe(true);
  });

  it('drops the oldest rows of a kind beyond its limit, and none of the other kind', async () => {
    const marked = { row: row(), failure: failure() };
    await log().append(batch({ rows: [marked.row], failures: [marked.failure] }));
    const fill = async (limit: number, more: () => Parameters<typeof batch>[0]) => {
      for (let written = 0; written < limit; written += 1_000)
        await Promise.all(
          Array.from({ length: 20 }, (_, at) => logs()[at % logs().length]!.append(batch(more()))),
        );
    };
    const fifty = <T>(make: () => T) => Array.from({ length: 50 }, make);
    const kept = async () => (await pagesOf(log(), { batches: 400 })).flat();
    await fill(LOG_LIMITS.rows, () => ({ rows: fifty(row) }));
    const rows = await kept();
    const others = rows.filter(({ outcome }) => outcome === 'handled');
    expect(others.length).toBeGreaterThan(LOG_LIMITS.rows - 100);
    expect(others.length).toBeLessThanOrEqual(LOG_LIMITS.rows);
    expect(idsOf(rows)).not.toContain(marked.row.webhookId);
    expect(idsOf(rows)).toContain(marked.failure.webhookId);
    // The next failure is the second one, however many others there have been.
    await log().append(batch({ failures: [failure()] }));
    const failed = (await pagesOf(log(), { only: 'failures' })).flat();
    expect(idsOf(failed)).toContain(marked.failure.webhookId);
    await fill(LOG_LIMITS.failures, () => ({ failures: fifty(failure) }));
    const failures = (await kept()).filter(({ outcome }) => outcome === 'handler-failed');
    expect(failures.length).toBeGreaterThan(LOG_LIMITS.failures - 100);
    expect(failures.length).toBeLessThanOrEqual(LOG_LIMITS.failures);
    expect(idsOf(failures)).not.toContain(marked.failure.webhookId);
  });

  it('erases the rows of calls, keys and tenants, and no others', async () => {
    const tenant = unique('tenant');
    const [callId, key] = [unique('call'), `tenant:${tenant}:${unique('call')}:call:started`];
    const old = now() - 2 * HOUR_MS;
    const [byCall, byKey, failed] = [row({ callId }), row({ key }), failure({ callId, tenant })];
    const [early, late] = [row({ at: old, tenant }), row({ tenant })];
    const [other, otherTenant] = [
      row({ callId: unique('call'), key: unique('key') }),
      row({ at: old }),
    ];
    await log().append(batch({ rows: [early, byCall, other], failures: [failed, failure()] }));
    await log().append(batch({ rows: [otherTenant, byKey, late] }));
    const left = async () => {
      const kept = idsOf((await log().read({ batches: 2 })).rows);
      return [byCall, byKey, failed, early, late, other, otherTenant].map(({ webhookId }) =>
        kept.includes(webhookId),
      );
    };
    expect(await log().erase({})).toBe(0);
    expect(await log().erase({ callIds: [], keys: [] })).toBe(0);
    expect(await log().erase({ callIds: [unique('call')], tenant })).toBe(0);
    expect(await left()).toEqual([true, true, true, true, true, true, true]);
    // At once, of the same batches.
    const erasures = [{ callIds: [callId] }, { keys: [key] }, { tenant, before: now() - HOUR_MS }];
    const erased = await Promise.all(
      erasures.map((which, index) => logs()[index % logs().length]!.erase(which)),
    );
    expect(erased).toEqual([2, 1, 1]);
    expect(await left()).toEqual([false, false, false, false, true, true, true]);
    expect(await log().erase({ tenant })).toBe(1);
    expect(await left()).toEqual([false, false, false, false, false, true, true]);
    expect((await log().read({ batches: 1, only: 'failures' })).rows).toHaveLength(1);
  });

  it('erases rows through the whole log, which can be paged through as before', async () => {
    const callId = unique('call');
    const lasting: OutcomeRow[] = [];
    for (let written = 0; written < 140; written++) {
      lasting.push(row());
      // Some batches have failures as well, so that a page of the erasure may end within a batch.
      const failures = written % 11 === 0 ? [] : [failure({ callId })];
      await log().append(batch({ rows: [row({ callId }), lasting.at(-1)!], failures }));
    }
    expect(await log().erase({ callIds: [callId] })).toBe(267);
    const isEnough = (page: readonly OutcomeRow[]) => idsOf(page).includes(lasting[0]!.webhookId);
    const found = (await pagesOf(log(), { batches: 30 }, isEnough)).flat();
    expect(found.some((one) => one.callId === callId)).toBe(false);
    expect(idsOf(found).slice(0, 140)).toEqual(idsOf(lasting).reverse());
  });

  it('forgets rows 50 hours after the store took them, whatever times they name', async () => {
    // Rows that a process could not write for a long time are kept as long as others.
    const [gone, lasting] = [failure(), row({ at: now() - LOG_LIMITS.rowsMs * 0.9 })];
    await log().append(batch({ failures: [gone] }));
    await advance(LOG_LIMITS.rowsMs / 2);
    await log().append(batch({ rows: [lasting] }));
    const ids = async () => idsOf((await pagesOf(log(), { batches: 400 })).flat());
    expect(await ids()).toEqual(expect.arrayContaining([gone.webhookId, lasting.webhookId]));
    await advance(LOG_LIMITS.rowsMs / 2 + 2 * MINUTE_MS);
    const kept = await ids();
    expect(kept).toContain(lasting.webhookId);
    expect(kept).not.toContain(gone.webhookId);
    // Not until somebody writes again, what is not read stays.
    const last = row();
    await log().append(batch({ rows: [last] }));
    expect(await ids()).toEqual([last.webhookId, lasting.webhookId]);
    const page = await log().read({ batches: 1 });
    expect(idsOf(page.rows)).toEqual([last.webhookId]);
    const { before } = page;
    expect(await log().read({ batches: 1, before })).toEqual({ rows: [expect.anything()] });
    expect((await log().read({ batches: 2 })).before).toBeUndefined();
  });
}
