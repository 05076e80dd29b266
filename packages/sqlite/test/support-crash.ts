// Claims, completes and queues one event after another, and names each on stdout once that is
// acknowledged: until somebody kills it.
import { setImmediate } from 'node:timers/promises';
import Database from 'libsql';
import { sqliteQueue, sqliteStore } from '../src/index.ts';

const [file = '', name = ''] = process.argv.slice(2);
const db = new Database(file);
const store = sqliteStore(db);
const queue = sqliteQueue(db);

for (let number = 0; ; number++) {
  const key = `${name}-${String(number)}`;
  await store.admit({
    webhookId: `webhook ${key}`,
    replayUntil: Date.now() + 600_000,
    key,
    leaseMs: 60_000,
    token: key,
  });
  if (!(await store.complete(key, key))) process.exit(3);
  process.stdout.write(`${key} done\n`);
  await queue.enqueue({ webhookId: key, timestamp: 1, receivedAt: 1, key, body: '' });
  process.stdout.write(`${key} queued\n`);
  await setImmediate();
}
