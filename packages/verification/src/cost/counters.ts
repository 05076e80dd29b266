import { readFile } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import type { Pool as MysqlPool } from 'mysql2/promise';
import type { Pool } from 'pg';

/** Counts what the clients of a server have sent to it. */
export interface Counter {
  /** Statements or commands since the last reading, without those of the reading itself. */
  read(): Promise<number>;
  close(): Promise<void>;
}

/** Commands of Redis. Those that a script runs inside of the server are not counted. */
export async function redisCounter(client: Redis): Promise<Counter> {
  const monitor = await client.monitor();
  const mark = 'end of a reading';
  let sent = 0;
  let marked: (() => void) | undefined;
  monitor.on('monitor', (_time: string, [command = '', text]: string[], source: string) => {
    if (text === mark) marked?.();
    // What a client does once when it connects is no part of a delivery.
    else if (source !== 'lua' && !ONCE.test(command)) sent += 1;
  });
  return {
    async read() {
      const isMarked = new Promise<void>((resolve) => (marked = resolve));
      await client.echo(mark);
      await isMarked;
      const read = sent;
      sent = 0;
      return read;
    },
    close() {
      monitor.disconnect();
      return Promise.resolve();
    },
  };
}

const ONCE = /^(?:hello|info|client|select|auth|ping|config|script)$/i;

/** Statements of Postgres, those of a function inside of the server not counted. */
export async function postgresCounter(pool: Pool): Promise<Counter> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const read = async () => {
    const { rows } = await pool.query<{ calls: string }>(
      `SELECT coalesce(sum(calls), 0) AS calls FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_%'`,
    );
    await pool.query('SELECT pg_stat_statements_reset()');
    return Number(rows[0]?.calls);
  };
  await read();
  return { read, close: () => Promise.resolve() };
}

/** Statements of MySQL, those inside of a procedure not counted. */
export async function mysqlCounter(pool: MysqlPool): Promise<Counter> {
  const questions = async () => {
    const [rows] = await pool.query("SHOW GLOBAL STATUS LIKE 'Questions'");
    return Number((rows as { Value: string }[])[0]?.Value);
  };
  let before = await questions();
  return {
    async read() {
      const now = await questions();
      const sent = now - before - 1;
      before = now;
      return sent;
    },
    close: () => Promise.resolve(),
  };
}

/** Commits of an SQLite file in WAL mode, which are written to its log. */
export function sqliteCounter(file: string): Counter {
  let before = 0;
  return {
    async read() {
      const log = await readFile(`${file}-wal`).catch(() => Buffer.alloc(0));
      const now = commitsIn(log);
      const commits = now - before;
      before = now;
      return commits;
    },
    close: () => Promise.resolve(),
  };
}

const HEADER = 32;
const FRAME_HEADER = 24;

/** The last frame of a commit says how large the database is then; all others say 0. */
function commitsIn(log: Buffer): number {
  if (log.length < HEADER) return 0;
  const frame = FRAME_HEADER + log.readUInt32BE(8);
  const salt = log.readBigUInt64BE(16);
  let commits = 0;
  for (let at = HEADER; at + frame <= log.length; at += frame) {
    if (log.readBigUInt64BE(at + 8) !== salt) break; // left from before the log began anew
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}
