import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { migrate, sqliteDeadLetters, sqliteQueue, sqliteStore } from '../src/index.ts';
import { eachClient, freshFile, type Handle } from './support.ts';

eachClient(({ name, open }) => {
  describe(`the health of a file, on ${name}`, () => {
    let place: ReturnType<typeof freshFile>;
    let db: Handle;
    beforeEach(async () => {
      place = freshFile();
      db = open(place.file);
      await migrate(db);
    });
    afterEach(() => {
      db.close();
      place.remove();
    });

    const checks = (handle = db) => [
      () => sqliteStore(handle).ping!(),
      () => sqliteQueue(handle).ping(),
      () => sqliteDeadLetters(handle).ping!(),
    ];

    it('is good, and leaves nothing behind', async () => {
      for (const check of checks()) await check();
      expect(db.prepare('SELECT * FROM call_webhooks_cursors').all()).toEqual([]);
    });

    it('is bad while the disk is full', async () => {
      const [size] = db.prepare('PRAGMA page_count').all() as { page_count: number }[];
      db.exec(`PRAGMA max_page_count = ${String(size!.page_count)}`);
      for (const check of checks())
        await expect(check()).rejects.toMatchObject({ message: expect.stringContaining('full') });
      db.exec('PRAGMA max_page_count = 1000000');
      for (const check of checks()) await check();
    });

    it('is bad while the file is read-only, and says what to do', async () => {
      db.exec('PRAGMA query_only = 1');
      const readOnly = {
        message:
          "The SQLite file can't be written: the file or its folder is read-only for this process, the folder is missing, or the handle was opened as read-only. Give this user the right to write the file and its folder, where SQLite keeps two more files (-wal and -shm).",
        cause: { message: expect.stringContaining('readonly') },
      };
      for (const check of checks()) await expect(check()).rejects.toMatchObject(readOnly);
      // Of the same turn, and so of one transaction.
      const store = sqliteStore(db);
      const pings = await Promise.allSettled([store.ping!(), store.ping!(), store.ping!()]);
      expect(pings).toMatchObject(pings.map(() => ({ status: 'rejected', reason: readOnly })));
      db.exec('PRAGMA query_only = 0');
      for (const check of checks()) await check();
    });
  });
});
