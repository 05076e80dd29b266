import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { sqliteDeadJobs, sqliteQueue } from '../src/index.ts';
import { freshFile } from './support.ts';

describe('the dead jobs of a queue', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
  });
  afterEach(() => {
    db.close();
    place.remove();
  });

  /** Jobs that died at one time, with the ids 1, 2, 3 … */
  async function deadJobs(count: number) {
    const queue = sqliteQueue(db);
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        queue.enqueue(queuedCall(`call-${String(index)}`)),
      ),
    );
    db.exec(
      `UPDATE call_webhooks_jobs SET state = 'dead', attempt = 1, error = 'no', due_at = 1800000000000,
       failures = '[{"at":1800000000000,"attempt":1,"error":"no"}]'`,
    );
    return sqliteDeadJobs(queue);
  }

  it('are listed once each, beyond one page of the file', async () => {
    const jobs = await deadJobs(450);
    const { letters } = await jobs.list({ limit: 1_000 });
    const ids = letters.map(({ id }) => Number(id));
    expect(ids).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
    expect(await jobs.count()).toBe(450);
  });

  it('have whole numbers as ids, and nothing else is one', async () => {
    const jobs = await deadJobs(1);
    const others = [
      'no id',
      '',
      '1.0',
      ' 1',
      '1 ',
      '+1',
      '-1',
      '1e0',
      '0x1',
      '01x',
      '0'.repeat(20),
    ];
    for (const id of others) {
      expect(await jobs.get(id)).toBeUndefined();
      expect(await jobs.requeue(id)).toBe(false);
      expect(await jobs.remove(id)).toBe(false);
    }
    expect(await jobs.get('1')).toMatchObject({ id: '1' });
    expect(await jobs.requeue('1')).toBe(true);
  });
});
