import { expect, it } from '@jest/globals';
import { collectingLogger, waitFor } from '@call-webhooks/contract-tests';
import { createReceiver, sign } from '@call-webhooks/core';
import type { OutcomeBatch } from '@call-webhooks/core/stores';
import { postgresStore } from '../src/index.ts';
import { freshSchema, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

withPostgres('the outcome log of postgresStore', () => {
  const test = usePostgres();

  /** The tables as they were before there was a log. */
  async function tablesOfVersion1(): Promise<string> {
    const schema = freshSchema();
    await postgresStore(test.pool, { schema }).migrate();
    const tables = ['batches', 'counts', 'processes'].map((name) => `${schema}.log_${name}`);
    await test.pool.query(`DROP TABLE ${tables.join(', ')}`);
    await test.pool.query(`UPDATE ${schema}.schema_version SET version = 1`);
    return schema;
  }

  async function deliver(receiver: ReturnType<typeof createReceiver>, callId: string) {
    const body = new TextEncoder().encode(JSON.stringify({ eventName: 'call:started', callId }));
    const headers = await sign({ secret: SECRET, body });
    return (await receiver.receive({ headers, body })).outcome.outcome;
  }

  it('is missing in tables of version 1: one warning says what to do, and deliveries go on', async () => {
    const schema = await tablesOfVersion1();
    const store = postgresStore(test.pool, { schema });
    const logger = collectingLogger();
    const on = { 'call:started': () => undefined };
    const receiver = createReceiver({ secret: SECRET, store, logger, on });
    expect(await deliver(receiver, 'call-1')).toBe('handled');
    await waitFor(() => logger.lines.length > 0);
    expect(await deliver(receiver, 'call-2')).toBe('handled');
    expect(JSON.stringify(logger.lines)).toContain(
      'The tables of the outcome log are missing. Run `await store.migrate()` once.',
    );

    expect(await store.migrate()).toEqual({ from: 1, to: 2 });
    await receiver.close();
    const { rows } = await store.log!.read();
    expect(rows.map(({ callId }) => callId)).toEqual(['call-2', 'call-1']);
    expect(logger.lines).toHaveLength(1);
    await store.close();
  });

  it('takes batches of many writers that count the same and delete the same, without a deadlock', async () => {
    const schema = freshSchema();
    const store = postgresStore(test.pool, { schema });
    await store.migrate();
    const minute = Math.floor(Date.now() / 60_000);
    const names = Array.from({ length: 30 }, (_, index) => `outcome/webhook/${String(index)}`);
    const batch = (writer: number, turn: number): OutcomeBatch => {
      const inSomeOrder = turn % 2 === 0 ? names : names.toReversed();
      const old = { [minute - 2_000 - turn]: { old: 1 } };
      return {
        id: `${String(writer)}-${String(turn)}`,
        process: { id: String(writer), host: 'h', pid: 1, startedAt: 0, at: 0, inFlight: 0 },
        rows: [],
        counts: { ...old, [minute]: Object.fromEntries(inSomeOrder.map((name) => [name, 1])) },
      };
    };
    await Promise.all(
      Array.from({ length: 12 }, async (_, writer) => {
        for (let turn = 0; turn < 10; turn++) await store.log!.append(batch(writer, turn));
      }),
    );
    const counts = await store.log!.counts(0, minute);
    expect([...counts.keys()]).toEqual([minute]);
    expect(counts.get(minute)).toEqual(Object.fromEntries(names.map((name) => [name, 120])));
    await store.close();
  });
});
