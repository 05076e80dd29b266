import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import { Redis } from 'ioredis';
import Database from 'libsql';

/** What remembers which events are done, and keeps those that failed for good. */
export type Storage = ReturnType<typeof openStorage>;

export const openStorage = ({ REDIS_URL, SQLITE_FILE }: Partial<NodeJS.ProcessEnv>) =>
  REDIS_URL ? openRedis(REDIS_URL) : openSqlite(SQLITE_FILE ?? 'calls.db');

/** A file, which any number of processes on this machine may share. */
function openSqlite(file: string) {
  const db = new Database(file);
  return {
    store: sqliteStore(db),
    deadLetters: sqliteDeadLetters(db),
    close: () => void db.close(),
  };
}

/** A server, for any number of machines. It must keep everything: see compose.yaml. */
function openRedis(url: string) {
  const redis = new Redis(url, {
    // A firewall may drop a connection without a word: connect again if the server doesn't answer.
    socketTimeout: 5_000,
    // After a failover, the old connection leads to a replica.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
  redis.on('error', (error) => console.warn(`Redis: ${error.message}`));
  return {
    store: redisStore(redis),
    deadLetters: redisDeadLetters(redis),
    // Nobody uses it any more, and quit() would wait for a server that is down.
    close: () => {
      redis.disconnect();
    },
  };
}
