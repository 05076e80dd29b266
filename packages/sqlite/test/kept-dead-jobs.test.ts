import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, queuedCall } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, type Logger, type Queue } from '@call-webhooks/core';
import { createSqliteWorker, type SqliteQueue, sqliteQueue } from '../src/index.ts';
import { useFile } from './support.ts';

describe('a dead job with keepFor', () => {
  const test = useFile();
  beforeEach(() => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate'],
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each<[of: string, start: (queue: Queue, logger: Logger) => { close(): Promise<void> }]>([
    ['a worker', (queue, logger) => createSqliteWorker(queue as SqliteQueue, { logger })],
    [
      'a receiver, whose own clock is elsewhere,',
      (queue, logger) => createReceiver({ secret: generateSecret(), queue, logger, now: () => 7 }),
    ],
  ])(
    'is removed when keepFor is over by the clock of its queue, and not before, while %s runs',
    async (_of, start) => {
      let time = 1_000_000_000_000;
      const queue = sqliteQueue(test.db, { keepFor: 3_600_000, now: () => time });
      await queue.enqueue(queuedCall('call-1'));
      test.db.exec(`UPDATE call_webhooks_jobs SET state = 'dead', due_at = ${String(time)}`);
      const running = start(queue, collectingLogger());
      for (const [ms, dead] of [
        [3_600_000, 1],
        [1, 0],
      ] as const) {
        time += ms;
        await jest.advanceTimersByTimeAsync(60_000);
        for (let turns = 0; turns < 5; turns++) await queue.ping(); // behind the removal
        expect(await queue.stats()).toMatchObject({ dead });
      }
      await running.close();
    },
  );

  it('that cannot be removed is told in a line that is redacted like the other lines of the worker', async () => {
    const logger = collectingLogger();
    const redact = (text: string) => text.replaceAll('no such table', 'no *** table');
    const removeExpired = () => Promise.reject(new Error('no such table'));
    const queue = Object.assign(sqliteQueue(test.db, { keepFor: 3_600_000 }), { removeExpired });
    const worker = createSqliteWorker(queue, { logger, redact });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(logger.entries.map(({ message }) => message)).toEqual([
      'call-webhooks: expired dead jobs could not be removed. The next attempt is in a minute: Error: no *** table',
    ]);
    await worker.close();
  });
});
