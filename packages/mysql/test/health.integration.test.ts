import { beforeAll, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { mysqlDeadLetters, mysqlStore } from '../src/index.ts';
import { freshPrefix, openPool, rowsOf, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

const TABLES = ['webhook_ids', 'events', 'event_groups', 'dead_letters'];

withMysql('the health of a receiver on MySQL', () => {
  const test = useMysql();
  const prefix = freshPrefix();
  const user = `${prefix}app`;
  const admin = (text: string) => test.pool.query(text);
  const database = () => new URL(test.url).pathname.slice(1);
  const table = (name: string) => `${database()}.${prefix}${name}`;

  beforeAll(async () => {
    await mysqlStore(test.pool, { prefix }).migrate();
    await admin(`CREATE USER ${user} IDENTIFIED BY 'secret'`);
    await admin(`GRANT EXECUTE ON ${database()}.* TO ${user}`);
    await admin(`GRANT SELECT ON ${table('schema_version')} TO ${user}`);
    for (const name of [...TABLES, 'cursors'])
      await admin(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table(name)} TO ${user}`);
  });

  /** As a user that may do what an app needs, and no more. */
  function receiver() {
    const url = new URL(test.url);
    [url.username, url.password] = [user, 'secret'];
    const app = openPool(url.href, { connectTimeout: 20_000 });
    const secret = generateSecret();
    const store = mysqlStore(app, { prefix });
    const opened = createReceiver({
      secret,
      store,
      deadLetter: mysqlDeadLetters(app, { prefix }),
      logger: collectingLogger(),
      storeTimeout: 10_000,
      on: { 'call:completed': () => undefined },
    });
    return {
      store,
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
    const { store, health, deliver, close } = receiver();
    expect(await health()).toMatchObject({
      ...{ ok: true, store: { status: 'up' }, deadLetter: { status: 'up' } },
    });
    for (const name of TABLES)
      expect(await rowsOf(test.pool, `SELECT * FROM ${table(name)}`)).toEqual([]);
    expect(await deliver()).toBe(200);
    // It may create nothing, and is not shown the tables of the outcome log.
    expect(await store.migrate()).toEqual({ from: 1, to: 1 });
    await close();
  });

  type Trouble = { by: string; undo: string };
  const without = (right: string, name: string): Trouble => ({
    by: `REVOKE ${right} ON ${table(name)} FROM ${user}`,
    undo: `GRANT ${right} ON ${table(name)} TO ${user}`,
  });
  const readOnly: Trouble = { by: 'SET GLOBAL read_only = ON', undo: 'SET GLOBAL read_only = OFF' };
  const noProcedures = (): Trouble => ({
    by: `REVOKE EXECUTE ON ${database()}.* FROM ${user}`,
    undo: `GRANT EXECUTE ON ${database()}.* TO ${user}`,
  });
  const troubles: [name: string, trouble: () => Trouble, part: string, message: string][] = [
    ['a read-only server, such as a replica', () => readOnly, 'store', 'read-only'],
    ['a read-only server, for dead letters', () => readOnly, 'deadLetter', 'read-only'],
    ['procedures that may not be called', noProcedures, 'store', 'execute command denied'],
    ['schema_version without SELECT', () => without('SELECT', 'schema_version'), 'store', 'denied'],
  ];
  for (const name of TABLES)
    for (const right of ['INSERT', 'UPDATE', 'DELETE', 'SELECT']) {
      const part = name === 'dead_letters' ? 'deadLetter' : 'store';
      troubles.push([`${name} without ${right}`, () => without(right, name), part, 'denied']);
    }

  describe.each(troubles)('is bad: %s', (_name, trouble, part, message) => {
    it('and says why', async () => {
      const running = receiver();
      expect(await running.health()).toMatchObject({ ok: true });
      const { by, undo } = trouble();
      await admin(by);
      const started = receiver(); // a connection keeps the rights on its database
      try {
        // What succeeds needs no dead letters, so it is still accepted.
        expect(await started.health()).toMatchObject({
          ok: by.includes('dead_letters'),
          [part]: { status: 'down', error: expect.stringContaining(message) },
        });
      } finally {
        await admin(undo);
        await started.close();
      }
      expect(await running.health()).toMatchObject({ ok: true });
      await running.close();
    });
  });
});
