import { expect, it } from '@jest/globals';
import type { OutcomeBatch } from '@call-webhooks/core/stores';
import { openTestStore, rowsOf, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

withMysql('the outcome log of mysqlStore', () => {
  const test = useMysql();

  const batch = (id: string, more: Partial<OutcomeBatch> = {}): OutcomeBatch => ({
    id,
    process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
    rows: [
      {
        ...{ at: Date.now(), process: 'p', outcome: 'handled', source: 'webhook' },
        ...{ durationMs: 1, callId: id },
      },
    ],
    ...{ failures: [], counts: {}, marks: {} },
    ...more,
  });

  it('refuses a batch that its tables refuse, for ever, and takes those after it', async () => {
    const { store, prefix, close } = await openTestStore(test.pool);
    await test.pool.query(
      `ALTER TABLE ${prefix}log_rows ADD CONSTRAINT none CHECK (outcomes NOT LIKE '%call-1%')`,
    );
    expect(await store.log!.append(batch('call-1'))).toEqual({ refused: expect.any(Error) });
    const tooLong = { minutes: { [Math.floor(Date.now() / 60_000)]: { ['x'.repeat(2_049)]: 1 } } };
    expect(await store.log!.append(batch('long', { counts: tooLong }))).toEqual({
      refused: expect.any(Error),
    });
    expect(await store.log!.append(batch('call-2'))).toBeUndefined();
    const { rows } = await store.log!.read();
    expect(rows.map(({ callId }) => callId)).toEqual(['call-2']);
    await test.pool.query(`DROP PROCEDURE ${prefix}append_log`);
    await expect(store.log!.append(batch('call-3'))).rejects.toThrow('store.migrate()');
    await close();
  });

  it('numbers its batches anew after the number was lost, or is behind the batches', async () => {
    const { store, prefix, close } = await openTestStore(test.pool);
    await store.log!.append(batch('first'));
    await store.log!.append(batch('second'));
    await test.pool.query(`DELETE FROM ${prefix}log_position`);
    await store.log!.append(batch('third'));
    await test.pool.query(`UPDATE ${prefix}log_position SET n = 1, others = 0`);
    for (const id of ['fourth', 'fifth']) await store.log!.append(batch(id));
    const { rows } = await store.log!.read();
    const ids = ['fifth', 'fourth', 'third', 'second', 'first'];
    expect(rows.map(({ callId }) => callId)).toEqual(ids);
    const kept = await rowsOf(test.pool, `SELECT earlier FROM ${prefix}log_rows ORDER BY n`);
    expect(kept).toEqual([0, 1, 2, 3, 4].map((earlier) => ({ earlier })));
    await close();
  });

  it('removes from each table what is too old or of the future, and nothing else', async () => {
    const { store, prefix, advance, close } = await openTestStore(test.pool);
    const minute = Math.floor(Date.now() / 60_000);
    const write = (name: string, id = name) =>
      store.log!.append(
        batch(id, {
          process: { id: name, host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
          failures: [{ ...batch(id).rows[0]!, outcome: 'handler-failed' }],
          ...{ counts: { minutes: { [minute]: { [name]: 1 } } }, marks: { [name]: Date.now() } },
        }),
      );
    await write('old');
    await advance(31 * 86_400_000);
    await test.pool.query(
      `INSERT INTO ${prefix}log_counts SELECT series, period_number + 80000, 'future', 1 FROM ${prefix}log_counts`,
    );
    for (let written = 2; written <= 50; written++) await write('new', `new-${String(written)}`);
    const found: Record<string, unknown> = {};
    for (const [table, column] of Object.entries({
      ...{ batches: 'LEFT(id, 3)', rows: 'n > 1', counts: 'name', marks: 'name', processes: 'id' },
    }))
      found[table] = (
        await rowsOf<{ one: unknown; rows: number }>(
          test.pool,
          `SELECT CONVERT(${column} USING utf8mb4) AS one, COUNT(*) AS rows_left FROM ${prefix}log_${table} GROUP BY 1`,
        )
      ).map((row) => Object.values(row));
    expect(found).toEqual({
      ...{ batches: [['new', 49]], rows: [['1', 98]], counts: [['new', 1]] },
      ...{ marks: [['new', 1]], processes: [['new', 1]] },
    });
    await close();
  });
});
