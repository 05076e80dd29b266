import { expect, it } from '@jest/globals';
import { collectingLogger, waitFor } from '@call-webhooks/contract-tests';
import { createReceiver, sign } from '@call-webhooks/core';
import type { OutcomeBatch } from '@call-webhooks/core/stores';
import { postgresStore } from '../src/index.ts';
import { freshSchema, openTestStore, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

withPostgres('the outcome log of postgresStore', () => {
  const test = usePostgres();

  async function deliver(receiver: ReturnType<typeof createReceiver>, callId: string) {
    const body = new TextEncoder().encode(JSON.stringify({ eventName: 'call:started', callId }));
    const headers = await sign({ secret: SECRET, body });
    return (await receiver.receive({ headers, body })).outcome.outcome;
  }

  it('drops a batch that its tables refuse, with one line, and takes those after it', async () => {
    const schema = freshSchema();
    const store = postgresStore(test.pool, { schema });
    await store.migrate();
    await test.pool.query(`ALTER TABLE ${schema}.log_rows ADD CHECK (rows NOT LIKE '%call-1%')`);
    const logger = collectingLogger();
    const on = { 'call:started': () => undefined };
    const receiver = createReceiver({ secret: SECRET, store, logger, on });
    expect(await deliver(receiver, 'call-1')).toBe('handled');
    await waitFor(() => logger.lines.length > 0);
    expect(logger.lines[0]).toContain('the outcome log could not store a batch, which is lost');
    expect(await deliver(receiver, 'call-2')).toBe('handled');
    await receiver.close();
    const { rows } = await store.log!.read();
    expect(rows.map(({ callId }) => callId)).toEqual(['call-2']);
    expect(logger.lines).toHaveLength(1);
    await store.close();
  });

  it('numbers its batches anew after the number was lost, or is behind the batches', async () => {
    const schema = freshSchema();
    const store = postgresStore(test.pool, { schema });
    await store.migrate();
    const append = (id: string) =>
      store.log!.append({
        id,
        process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: 0, inFlight: 0 },
        rows: [
          { at: 1, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1, callId: id },
        ],
        ...{ failures: [], counts: {}, marks: {} },
      });
    await append('first');
    await append('second');
    await test.pool.query(`TRUNCATE ${schema}.log_position`);
    await append('third');
    await test.pool.query(`UPDATE ${schema}.log_position SET n = 1, others = 0`);
    await append('fourth');
    await append('fifth');
    const { rows } = await store.log!.read();
    expect(rows.map(({ callId }) => callId)).toEqual([
      'fifth',
      'fourth',
      'third',
      'second',
      'first',
    ]);
    await store.close();
  });

  const batchOf = (id: string, more: Partial<OutcomeBatch>): OutcomeBatch => ({
    ...{ id, rows: [], failures: [], counts: {}, marks: {} },
    process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: 0, inFlight: 0 },
    ...more,
  });
  const rowOf = (callId: string) => ({
    ...({
      at: Date.now(),
      process: 'p',
      source: 'webhook',
      outcome: 'handled',
      durationMs: 1,
    } as const),
    callId,
  });

  it('erases all rows that it should, although another erasure changes them in between', async () => {
    const schema = freshSchema();
    const other = postgresStore(test.pool, { schema });
    await other.migrate();
    await other.log!.append(batchOf('b1', { rows: ['c1', 'c2', 'c3'].map(rowOf) }));
    const query = test.pool.query.bind(test.pool) as (...given: unknown[]) => Promise<unknown>;
    let isFirst = true;
    const meanwhile = {
      async query(...given: unknown[]) {
        const result: unknown = await query(...given);
        // It has read the rows.
        if (isFirst && JSON.stringify(result).includes('c1')) {
          isFirst = false;
          expect(await other.log!.erase({ callIds: ['c2'] })).toBe(1);
        }
        return result;
      },
    };
    const store = postgresStore(meanwhile, { schema });
    expect(await store.log!.erase({ callIds: ['c1'] })).toBe(1);
    expect(isFirst).toBe(false);
    const { rows } = await other.log!.read();
    expect(rows.map(({ callId }) => callId)).toEqual(['c3']);
    await Promise.all([store.close(), other.close()]);
  });

  it('says of a batch that no repetition could store that it is refused', async () => {
    const schema = freshSchema();
    const store = postgresStore(test.pool, { schema });
    await store.migrate();
    const random = Array.from({ length: 200 }, () => crypto.randomUUID()).join('');
    for (const name of ['nul \0', random]) {
      const refused = await store.log!.append(
        batchOf(crypto.randomUUID(), { marks: { [name]: 1 } }),
      );
      expect(refused).toEqual({ refused: expect.any(Error) });
    }
    await store.close();
  });

  it('removes from each table what is too old or of the future, and nothing else', async () => {
    const { store, schema, advance, close } = await openTestStore(test.pool);
    const minute = Math.floor(Date.now() / 60_000);
    const write = (name: string, id = name) => {
      const ran = { at: Date.now(), process: name, source: 'webhook', durationMs: 1 } as const;
      return store.log!.append({
        id,
        process: { id: name, host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
        rows: [{ ...ran, outcome: 'handled' }],
        failures: [{ ...ran, outcome: 'handler-failed' }],
        ...{ counts: { minutes: { [minute]: { [name]: 1 } } }, marks: { [name]: Date.now() } },
      });
    };
    await write('old');
    await advance(31 * 86_400_000);
    await test.pool.query(
      `INSERT INTO ${schema}.log_counts SELECT series, at + 80000, 'future', 1 FROM ${schema}.log_counts`,
    );
    for (let written = 2; written <= 50; written++) await write('new', `new-${String(written)}`);
    const found: Record<string, unknown> = {};
    for (const [table, column] of Object.entries({
      ...{ batches: 'left(id, 3)', rows: 'n > 1', counts: 'name', marks: 'name', processes: 'id' },
    })) {
      const text = `SELECT ${column} AS one, count(*)::int AS rows FROM ${schema}.log_${table} GROUP BY 1`;
      const { rows } = await test.pool.query<object>(text);
      found[table] = rows.map((row) => Object.values(row) as unknown[]);
    }
    expect(found).toEqual({
      ...{ batches: [['new', 49]], rows: [[true, 98]], counts: [['new', 1]] },
      ...{ marks: [['new', 1]], processes: [['new', 1]] },
    });
    await close();
  });
});
