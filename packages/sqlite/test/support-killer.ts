// A worker whose handler takes the process with it, as a bug in a native module would.
import Database from 'libsql';
import { createSqliteWorker, sqliteQueue } from '../src/index.ts';

const [file = ''] = process.argv.slice(2);
createSqliteWorker(sqliteQueue(new Database(file)), {
  maxRuns: 1,
  leaseFor: 100,
  on: { 'call:completed': () => process.kill(process.pid, 'SIGKILL') },
});

// Without a job it would run for ever.
setTimeout(() => process.exit(4), 10_000);
