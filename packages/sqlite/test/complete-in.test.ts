import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import {
  createReceiver,
  generateSecret,
  type HandlerContext,
  sign,
  type WebhookError,
} from '@call-webhooks/core';
import Database from 'libsql';
import {
  type SqliteDatabase,
  sqliteStore,
  type SqliteStore,
  type SqliteTransaction,
} from '../src/index.ts';
import {
  completeInTests,
  drizzleOn,
  onDrizzle,
  onHandle,
  onKysely,
  onLibsqlClient,
  openWithEffects,
} from './complete-in.ts';
import { type Client, eachClient, freshFile, useFile } from './support.ts';

describe('completeIn', () => {
  eachClient((client) => {
    completeInTests(client.name, client, (file) => onHandle(client, file));
    completeInTests(`Kysely on ${client.name}`, client, (file) => onKysely(client, file));
    completeInTests(`Drizzle on ${client.name}`, client, (file) => onDrizzle(client, file));
    if (client.name === 'libsql') {
      completeInTests('@libsql/client', client, onLibsqlClient);
      return;
    }

    it(`refuses ${client.name} beside a store on libsql: their locks would not hold`, async () => {
      const libsql: Client = { name: 'libsql', open: (file) => new Database(file) };
      const opened = openWithEffects(libsql, (file) => onHandle(client, file));
      const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      await opened.store.admit({ ...claim, key: 'event', token: 'token' });
      const transaction = opened.transact(async ({ tx }) => {
        await opened.store.completeIn(tx as SqliteTransaction, 'event', 'token');
      });
      await expect(transaction).rejects.toThrow('own copy of SQLite');
      await opened.close();
    });
  });

  it('the binding of Cloudflare D1 is refused with the reason', async () => {
    // What a Worker gets. It is refused before any of this is called.
    const unused = () => Promise.reject(new Error('not to be called'));
    const binding = { prepare: unused, batch: unused, exec: unused, dump: unused };
    const { file, remove } = freshFile();
    const db = new Database(file);
    const store = sqliteStore(db);
    const completing = async () =>
      store.completeIn(binding as unknown as SqliteTransaction, 'event', 'token');
    await expect(completing()).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining(
        'Cloudflare D1 does not support transactions that wait for your code',
      ),
    });
    db.close();
    remove();
  });
});

describe('completeIn in a synchronous transaction', () => {
  /** better-sqlite3 and libsql have `db.transaction(function)`, whose function is synchronous. */
  type Handle = SqliteDatabase & {
    close(): unknown;
    transaction?<Result>(work: () => Result): () => Result;
  };

  eachClient((client) => {
    describe(`completeIn in a synchronous transaction of ${client.name}`, () => {
      let db: Handle;
      let remove: () => void;
      let save: (context: HandlerContext) => unknown;
      const deliver = async (callId: string) => {
        const body = Buffer.from(callBody(callId));
        const { outcome } = await receiver.receive({ headers: await sign({ secret, body }), body });
        return outcome.outcome;
      };
      const secret = generateSecret();
      let receiver: ReturnType<typeof createReceiver>;
      const written = () =>
        (db.prepare('SELECT effect FROM effects').all() as { effect: string }[]).map(
          ({ effect }) => effect,
        );

      beforeEach(() => {
        const place = freshFile();
        remove = place.remove;
        db = client.open(place.file);
        db.exec('CREATE TABLE effects (effect TEXT)');
        receiver = createReceiver({
          secret,
          store: sqliteStore(db), // on the same handle: nothing comes between two turns
          leaseFor: 30_000,
          logger: collectingLogger(),
          on: { 'call:completed': (_event, context) => save(context) },
        });
      });
      afterEach(() => {
        db.close();
        remove();
      });

      /** Runs a function in a transaction, on the handle of the store. */
      function transact(work: () => void): void {
        if (db.transaction) {
          db.transaction(work)();
          return;
        }
        db.exec('BEGIN IMMEDIATE');
        try {
          work();
          db.exec('COMMIT');
        } catch (error) {
          db.exec('ROLLBACK');
          throw error;
        }
      }
      const insert = (effect: string) => db.prepare('INSERT INTO effects VALUES (?)').run(effect);

      it('commits both, or neither', async () => {
        save = ({ completeIn, attempt }) =>
          transact(() => {
            insert(`attempt ${String(attempt)}`);
            void completeIn(db);
            if (attempt === 1) throw new Error('a constraint was violated');
          });
        expect(await deliver('call-1')).toBe('handler-failed');
        expect(await deliver('call-1')).toBe('handled');
        expect(await deliver('call-1')).toBe('duplicate');
        expect(written()).toEqual(['attempt 2']);
      });

      it('throws at once when the lease was lost, so that the transaction rolls back', async () => {
        let error: WebhookError | undefined;
        save = async ({ completeIn }) => {
          db.exec("UPDATE call_webhooks_events SET token = 'of another process'");
          await Promise.resolve();
          try {
            transact(() => {
              insert('lost');
              void completeIn(db);
            });
          } catch (thrown) {
            error = thrown as WebhookError;
            throw thrown;
          }
        };
        expect(await deliver('call-1')).toBe('in-progress');
        expect(error?.code).toBe('in-progress');
        expect(written()).toEqual([]);
      });

      it('throws at once outside of a transaction', async () => {
        save = ({ completeIn }) => {
          expect(() => completeIn(db)).toThrow('this handle is not in a transaction');
        };
        expect(await deliver('call-1')).toBe('handler-failed'); // nothing was done
        expect(written()).toEqual([]);
      });
    });
  });
});

/** A handle in a transaction, whose statements are changed, or whose replies are. */
type Watched = SqliteDatabase & { statements: string[] };

describe('completeIn on a handle', () => {
  const test = useFile();
  let db: SqliteDatabase;
  let store: SqliteStore;
  beforeEach(async () => {
    db = test.db;
    store = sqliteStore(db);
    const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
    await store.admit({ ...claim, key: 'event', token: 'token' });
    db.exec('BEGIN IMMEDIATE');
  });

  function handle(
    change: (text: string) => string,
    reply = (rows: unknown[]): unknown => rows,
  ): Watched {
    const statements: string[] = [];
    return {
      statements,
      exec: (text) => db.exec(text),
      prepare: (text) => {
        statements.push(text);
        const statement = db.prepare(change(text));
        return {
          all: () => reply(statement.all()) as unknown[],
          run: () => statement.run(),
        };
      },
    };
  }
  const same = (text: string) => text;
  function thrownBy(call: () => unknown): unknown {
    try {
      return call();
    } catch (error) {
      return error;
    }
  }
  const complete = (tx: unknown) => () => store.completeIn(tx as Watched, 'event', 'token');

  it('refuses a client with another copy of SQLite each time, and completes nothing', () => {
    const other = handle((text) => text.replaceAll('sqlite_source_id()', "'of another copy'"));
    for (let time = 1; time <= 3; time++)
      expect(complete(other)).toThrow(
        expect.objectContaining({
          code: 'invalid-options',
          message: expect.stringContaining(
            'their own copy of SQLite, and the copies undo the locks of each other',
          ),
        }),
      );
    const [event] = db.prepare('SELECT done FROM call_webhooks_events').all();
    expect(event).toMatchObject({ done: 0 });
  });

  it('tells copies apart by how they were built as well', () => {
    const other = handle((text) => text.replaceAll('pragma_compile_options', '(SELECT 1)'));
    expect(complete(other)).toThrow();
  });

  it('refuses a transaction of Drizzle that has ended, after which each write is one of its own', async () => {
    const tx = drizzleOn(db, true) as SqliteTransaction;
    db.exec('ROLLBACK');
    expect(() => store.completeIn(tx, 'event', 'token')).toThrow(
      'this is no transaction. Pass the tx of db.transaction((tx) => …)',
    );
    expect(await store.peek!(['event'])).toEqual(['running']);
    db.exec('BEGIN IMMEDIATE');
    expect(store.completeIn(tx, 'event', 'token')).toBe(true);
    db.exec('COMMIT');
    expect(await store.peek!(['event'])).toEqual(['handled']);
  });

  it('asks a client once which copy it has', () => {
    const client = handle(same);
    for (let time = 1; time <= 3; time++) expect(complete(client)()).toBe(true);
    const asked = client.statements.map((text) => text.includes('sqlite_source_id'));
    expect(asked).toEqual([true, false, false]);
  });

  it('passes other errors of the client on as they are', () => {
    const causes = [new Error('disk I/O error'), new Error('failed', { cause: new Error('why') })];
    const cyclic: Error = new Error('failed');
    cyclic.cause = cyclic;
    for (const error of [...causes, cyclic]) {
      const broken = handle(same, () => {
        throw error;
      });
      expect(thrownBy(complete(broken))).toBe(error);
    }
  });

  it('passes on what a handle fails with when it is asked for its transaction', () => {
    const client = handle(same);
    const failing = {
      ...client,
      exec() {
        throw new Error('disk I/O error');
      },
    };
    expect(complete(failing)).toThrow('disk I/O error');
    expect(client.statements).toEqual([]);
  });

  it('leaves a handle that is in no transaction as it was', () => {
    db.exec('ROLLBACK');
    for (let time = 1; time <= 2; time++)
      expect(complete(db)).toThrow('this handle is not in a transaction. Run BEGIN on it first');
    db.exec('BEGIN');
  });

  it.each([undefined, null, {}, 'rows', { rows: 1 }])(
    'refuses a client that replies with %p in place of rows',
    (reply) => {
      expect(complete(handle(same, () => reply))).toThrow(
        'completeIn: the client of the transaction returned no rows.',
      );
    },
  );

  it('says what it wants in place of a transaction', () => {
    const error = thrownBy(complete({ query: 'SELECT 1' }));
    expect(error).toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('completeIn: expected a transaction of a SQLite client.'),
    });
    expect(Object.hasOwn(error as Error, 'cause')).toBe(false);
  });
});
