// A worker that dies with what it is given: in the handler, or in `deadLetter` where there is no run.
import { PASSIVE, PgBoss } from './pg-boss-version.ts';
import { createPgBossWorker } from '../src/index.ts';

const [connectionString = '', queue = ''] = process.argv.slice(2);
const boss = new PgBoss({ connectionString, ...PASSIVE });
boss.on('error', () => undefined);
await boss.start();
const die = () => void process.kill(process.pid, 'SIGKILL');
createPgBossWorker(boss, {
  queue,
  pollEvery: 20,
  on: { 'call:completed': die },
  deadLetter: die,
});

// Without a job it would run for ever.
setTimeout(() => process.exit(4), 15_000);
