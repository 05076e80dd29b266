import { beforeAll, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { postgresDeadLetters, postgresStore } from '../src/index.ts';
import { freshSchema, openPool, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

withPostgres('the health of a receiver on Postgres', () => {
  const test = usePostgres();
  const schema = freshSchema();
  const admin = (text: string) => test.pool.query(text);

  beforeAll(async () => {
    await postgresStore(test.pool, { schema }).migrate();
    await admin('CREATE ROLE app LOGIN');
    await admin(`GRANT USAGE ON SCHEMA ${schema} TO app`);
    await admin(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO app`);
  });

  /** As a role that may do what an app needs, and no more. */
  function receiver() {
    const app = openPool(test.server.url.replace('postgres@', 'app@'), {
      ...{ query_timeout: 20_000, connectionTimeoutMillis: 20_000 },
    });
    const secret = generateSecret();
    const opened = createReceiver({
      secret,
      store: postgresStore(app, { schema }),
      deadLetter: postgresDeadLetters(app, { schema }),
      logger: collectingLogger(),
      storeTimeout: 10_000,
      on: { 'call:completed': () => undefined },
    });
    return {
      health: () => opened.health(),
      async close() {
        await opened.close();
        await app.end();
      },
      async deliver() {
        const body = new TextEncoder().encode(callBody(`call-${String(Math.random())}`));
        return (await opened.receive({ headers: await sign({ secret, body }), body })).status;
      },
    };
  }

  it('is good with the rights that a delivery needs, and leaves nothing behind', async () => {
    const { health, deliver, close } = receiver();
    expect(await health()).toMatchObject({
      ...{ ok: true, store: { status: 'up' }, deadLetter: { status: 'up' } },
    });
    for (const table of ['webhook_ids', 'events', 'groups', 'dead_letters'])
      expect((await admin(`SELECT count(*)::int AS rows FROM ${schema}.${table}`)).rows).toEqual([
        { rows: 0 },
      ]);
    expect(await deliver()).toBe(200);
    await close();
  });

  const table = (name: string) => `${schema}.${name}`;
  const secured = (name: string, policy: string) => ({
    by: `ALTER TABLE ${table(name)} ENABLE ROW LEVEL SECURITY${policy && `; CREATE POLICY first ON ${table(name)} ${policy}`}`,
    undo: `ALTER TABLE ${table(name)} DISABLE ROW LEVEL SECURITY; DROP POLICY IF EXISTS first ON ${table(name)}; DROP POLICY IF EXISTS others ON ${table(name)}`,
  });
  const without = (right: string, name: string) => ({
    by: `REVOKE ${right} ON ${table(name)} FROM app`,
    undo: `GRANT ${right} ON ${table(name)} TO app`,
  });
  const readOnly = {
    by: 'ALTER ROLE app SET default_transaction_read_only = on',
    undo: 'ALTER ROLE app RESET default_transaction_read_only',
  };
  const denied = 'permission denied for table';
  const hidden = 'row level security hides rows of';
  type Trouble = { by: string; undo: string };
  type Part = 'store' | 'deadLetter';
  const troubles: [name: string, trouble: () => Trouble, part: Part, message: string][] = [
    ['a read-only server', () => readOnly, 'store', 'read-only transaction'],
    ['a read-only server, for dead letters', () => readOnly, 'deadLetter', 'read-only transaction'],
    [
      'the version under row level security',
      () => secured('schema_version', ''),
      'store',
      'Row level security may hide it',
    ],
  ];
  for (const name of ['webhook_ids', 'events', 'groups', 'dead_letters']) {
    const part = name === 'dead_letters' ? 'deadLetter' : 'store';
    for (const right of ['INSERT', 'UPDATE', 'DELETE', 'SELECT'])
      troubles.push([`${name} without ${right}`, () => without(right, name), part, denied]);
    const onlyInsert = 'FOR INSERT WITH CHECK (true)';
    const noDelete = `FOR ALL USING (true); CREATE POLICY others ON ${table(name)} AS RESTRICTIVE FOR DELETE USING (false)`;
    troubles.push(
      [`${name} under row level security`, () => secured(name, ''), part, 'security'],
      [`${name} of which no row is shown`, () => secured(name, onlyInsert), part, 'security'],
      [`${name} of which no row can be deleted`, () => secured(name, noDelete), part, hidden],
    );
  }
  describe.each(troubles)('is bad: %s', (_name, trouble, part, message) => {
    it('and says why', async () => {
      const running = receiver();
      expect(await running.health()).toMatchObject({ ok: true });
      const { by, undo } = trouble();
      await admin(by);
      const started = receiver(); // a role's settings are those of new connections
      try {
        // What succeeds needs no dead letters, so it is still accepted.
        const ok = by.includes('dead_letters');
        expect(await started.health()).toMatchObject({
          ok,
          [part]: { status: 'down', error: expect.stringContaining(message) },
        });
        if (trouble() !== readOnly) expect(await running.health()).toMatchObject({ ok });
      } finally {
        await admin(undo);
        await started.close();
      }
      expect(await running.health()).toMatchObject({ ok: true });
      await running.close();
    });
  });
});
