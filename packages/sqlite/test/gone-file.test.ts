import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger, deadLetter, queuedCall } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { sqliteDeadLetters, sqliteQueue, sqliteStore } from '../src/index.ts';
import { eachClient, freshFile, type Handle } from './support.ts';

eachClient(({ name, open }) => {
  describe(`a file that is gone while it is open, on ${name}`, () => {
    let place: ReturnType<typeof freshFile>;
    let db: Handle;
    beforeEach(() => {
      place = freshFile();
      db = open(place.file);
    });
    afterEach(() => {
      db.close();
      place.remove();
    });

    /** Every way to write into the file. */
    function writers(handle = db) {
      const [store, queue] = [sqliteStore(handle), sqliteQueue(handle)];
      const letters = sqliteDeadLetters(handle);
      let written = 0;
      const process = { id: 'p', host: 'h', pid: 1, startedAt: 1, at: 2, inFlight: 0 };
      return {
        admit: () =>
          store.admit({
            ...{ webhookId: `w${String(++written)}`, key: `e${String(written)}`, token: 't' },
            ...{ leaseMs: 60_000, replayUntil: Date.now() + 600_000 },
          }),
        cursor: () => store.saveCursor!('here', 'there'),
        log: () =>
          store.log!.append({
            ...{ id: `b${String(++written)}`, process, rows: [], failures: [] },
            ...{ counts: {}, marks: {} },
          }),
        enqueue: () => queue.enqueue(queuedCall(`call-${String(++written)}`)),
        put: () => letters.put(deadLetter()),
        storeHealth: () => store.ping!(),
        queueHealth: () => queue.ping(),
        letterHealth: () => letters.ping!(),
      };
    }

    const folder = () => dirname(place.file);
    const ways: Record<string, { gone(): void; back?(): void; message: RegExp }> = {
      'its file was removed': {
        gone: () => unlinkSync(place.file),
        message: /The SQLite file \S+calls\.db was removed or moved while .* restart the process/,
      },
      'its file was renamed': {
        gone: () => renameSync(place.file, `${place.file}.old`),
        back: () => renameSync(`${place.file}.old`, place.file),
        message: /calls\.db was removed or moved/,
      },
      'its folder was renamed': {
        gone: () => renameSync(folder(), `${folder()}-old`),
        back: () => renameSync(`${folder()}-old`, folder()),
        message: /calls\.db was removed or moved/,
      },
      'its folder was removed': {
        gone: () => rmSync(folder(), { recursive: true }),
        message: /calls\.db was removed or moved/,
      },
      'its folder was replaced by an empty one': {
        gone() {
          renameSync(folder(), `${folder()}-old`);
          mkdirSync(folder());
        },
        message: /calls\.db was removed or moved/,
      },
      'its file was replaced by a copy': {
        gone() {
          copyFileSync(place.file, `${place.file}.copy`);
          renameSync(`${place.file}.copy`, place.file);
        },
        message: /calls\.db was replaced by another file/,
      },
      'its log was removed': {
        gone: () => unlinkSync(`${place.file}-wal`),
        message: /calls\.db-wal was removed or moved/,
      },
    };
    for (const [way, { gone, back, message }] of Object.entries(ways))
      it(`takes nothing, and is not healthy, after ${way}`, async () => {
        const all = writers();
        for (const write of Object.values(all)) await write();
        gone();
        for (const write of Object.values(all)) await expect(write()).rejects.toThrow(message);
        if (back) {
          back();
          for (const write of Object.values(all)) await write();
        }
        rmSync(`${folder()}-old`, { recursive: true, force: true });
      });

    it('takes nothing if its file was removed before it was used first', async () => {
      const all = writers();
      unlinkSync(place.file);
      for (const write of Object.values(all))
        await expect(write()).rejects.toThrow(/was removed or moved/);
      expect(readdirSync(folder())).not.toContain('calls.db');
    });

    it.each([
      ['empty', ''],
      ['in use', 'CREATE TABLE of_others (id)'],
    ])(
      'says so if its file was removed before the store was created: one that was %s',
      async (_how, sql) => {
        if (sql !== '') db.exec(sql);
        unlinkSync(place.file);
        for (const write of Object.values(writers()))
          for (let times = 0; times < 2; times++)
            await expect(write()).rejects.toThrow(/calls\.db was removed or moved/);
        expect(readdirSync(folder())).not.toContain('calls.db');
      },
    );

    it('rejects deliveries with 503, and is not ready', async () => {
      const secret = generateSecret();
      const receiver = createReceiver({
        secret,
        store: sqliteStore(db),
        deadLetter: sqliteDeadLetters(db),
        logger: collectingLogger(),
        on: { 'call:completed': () => undefined },
      });
      const deliver = async (callId: string) => {
        const body = new TextEncoder().encode(callBody(callId));
        return receiver.receive({ headers: await sign({ secret, body }), body });
      };
      expect(await deliver('call-1')).toMatchObject({ status: 200 });
      expect(await receiver.health()).toMatchObject({ ok: true });
      unlinkSync(place.file);
      expect(await deliver('call-2')).toMatchObject({ status: 503 });
      expect(await receiver.health()).toMatchObject({
        ok: false,
        store: { status: 'down', error: expect.stringContaining('was removed') },
        deadLetter: { status: 'down' },
      });
      await receiver.close();
    });

    it('completes nothing in a transaction on such a file', async () => {
      const store = sqliteStore(db);
      const claim = { webhookId: 'w', key: 'e', token: 't', leaseMs: 60_000 };
      await store.admit({ ...claim, replayUntil: Date.now() + 600_000 });
      unlinkSync(place.file);
      db.exec('BEGIN');
      expect(() => store.completeIn(db, 'e', 't')).toThrow(/was removed or moved/);
      db.exec('ROLLBACK');
    });

    it('is not asked of a database in memory', async () => {
      const memory = open(':memory:');
      const all = writers(memory);
      for (const write of Object.values(all)) await write();
      memory.close();
    });

    it('is not asked of other files of the handle', async () => {
      db.exec(`ATTACH '${join(folder(), 'other.db')}' AS other`);
      const all = writers();
      for (const write of Object.values(all)) await write();
      unlinkSync(join(folder(), 'other.db'));
      for (const write of Object.values(all)) await write();
    });
  });
});
