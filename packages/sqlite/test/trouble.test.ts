import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callBody, collectingLogger, queuedCall } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, type Receiver, sign } from '@call-webhooks/core';
import { sqliteQueue, sqliteStore } from '../src/index.ts';
import { eachClient, freshFile, type Handle } from './support.ts';

eachClient(({ name, open }) => {
  describe(`a receiver in trouble with its file, on ${name}`, () => {
    let place: ReturnType<typeof freshFile>;
    let db: Handle;
    let other: Handle;
    let receiver: Receiver;
    let runs: string[];
    const secret = generateSecret();

    beforeEach(() => {
      place = freshFile();
      db = open(place.file);
      other = open(place.file);
      runs = [];
      receiver = createReceiver({
        secret,
        store: sqliteStore(db),
        logger: collectingLogger(),
        on: { 'call:completed': ({ callId }) => void runs.push(String(callId)) },
      });
    });
    afterEach(async () => {
      await receiver.close();
      db.close();
      other.close();
      place.remove();
    });

    async function deliver(callId: string) {
      const body = new TextEncoder().encode(callBody(callId));
      const { outcome } = await receiver.receive({ headers: await sign({ secret, body }), body });
      return outcome.outcome;
    }

    it('answers 503 while somebody holds the lock, lets the process go on, and works afterwards', async () => {
      await deliver('call-0');
      for (const lock of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE']) {
        other.exec(lock);
        let turns = 0;
        const pulse = setInterval(() => turns++, 5);
        const answers = await Promise.all(['call-1', 'call-2', 'call-3'].map(deliver));
        clearInterval(pulse);
        expect(answers).toEqual(Array(3).fill('store-unavailable'));
        expect(turns).toBeGreaterThan(3); // the process was not blocked while the store waited
        other.exec('ROLLBACK');
      }
      expect(runs).toEqual(['call-0']);
      expect(await deliver('call-1')).toBe('handled');
      expect(await deliver('call-1')).toBe('duplicate');
    });

    it('loses the rows of a batch that the log can never take, and none after it', async () => {
      await sqliteStore(db).ping?.();
      other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON call_webhooks_log_rows
        WHEN new.rows LIKE '%call-1%' BEGIN SELECT raise(ABORT, 'not this one'); END`);
      const { log } = sqliteStore(db);
      const process = { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 };
      const append = (id: string) => {
        const row = { at: Date.now(), process: 'p', durationMs: 1, callId: id } as const;
        const rows = [{ ...row, outcome: 'handled', source: 'webhook' } as const];
        return log!.append({ id, process, rows, failures: [], counts: {}, marks: { [id]: 1 } });
      };
      expect(await append('call-1')).toHaveProperty('refused');
      expect(await append('call-2')).toBeUndefined();
      expect((await log!.read()).rows.map(({ callId }) => callId)).toEqual(['call-2']);
      other.exec('BEGIN EXCLUSIVE');
      await expect(append('call-3')).rejects.toThrow(/locked|busy/i);
      other.exec('ROLLBACK');
      expect(await append('call-3')).toBeUndefined();
    });

    it('is locked from the start, and works when the lock is gone', async () => {
      other.exec('BEGIN EXCLUSIVE');
      expect(await deliver('call-1')).toBe('store-unavailable');
      other.exec('COMMIT');
      expect(await deliver('call-1')).toBe('handled');
    });

    it('answers 503 while the disk is full, and works when there is room', async () => {
      await deliver('call-0');
      const queue = sqliteQueue(db);
      await queue.enqueue(queuedCall('queued-0'));
      const [size] = db.prepare('PRAGMA page_count').all() as { page_count: number }[];
      db.exec(`PRAGMA max_page_count = ${String(size!.page_count)}`);
      const outcomes: string[] = [];
      for (let number = 1; number <= 60; number++)
        outcomes.push(await deliver(`call-${String(number)}`));
      expect(outcomes.at(-1)).toBe('store-unavailable');
      expect(runs).toHaveLength(1 + outcomes.filter((outcome) => outcome === 'handled').length);
      const large = queuedCall('large', { body: 'x'.repeat(100_000) });
      await expect(queue.enqueue(large)).rejects.toThrow(/full/);

      db.exec('PRAGMA max_page_count = 1000000');
      for (let number = 1; number <= 60; number++) {
        const first = outcomes[number - 1] === 'handled' ? 'duplicate' : 'handled';
        expect(await deliver(`call-${String(number)}`)).toBe(first);
      }
      expect(new Set(runs).size).toBe(61);
      expect(runs).toHaveLength(61);
      await queue.enqueue(large);
      expect(await queue.stats()).toMatchObject({ waiting: 2 });
    });
  });
});
