import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createReceiver,
  generateSecret,
  sign,
  type HandlerContext,
  type WebhookError,
} from '@call-webhooks/core';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import { sqliteStore, type SqliteDatabase } from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

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
        expect(() => completeIn(db)).toThrow('this handle is in no transaction');
      };
      expect(await deliver('call-1')).toBe('handler-failed'); // nothing was done
      expect(written()).toEqual([]);
    });
  });
});
