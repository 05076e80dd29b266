import { join } from 'node:path';
import { startMysql } from '@call-webhooks/contract-tests/servers/mysql';
import { startPostgres } from '@call-webhooks/contract-tests/servers/postgres';
import { redisServer } from '@call-webhooks/contract-tests/servers/redis';
import { retryUntilSuccess, type EngineName } from './engine.ts';

/** The server that receivers and workers share, started for this run only. */
export interface EngineServer {
  url: string;
  /** False for SQLite. */
  hasProcess: boolean;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again with its data. */
  restart(): Promise<void>;
  /** SIGSTOP to all of its processes, and SIGCONT. */
  freeze?(): void;
  thaw?(): void;
  remove(): Promise<void>;
}

/** Starts a server that keeps what it has acknowledged, even when it is killed. */
export async function startServer(name: EngineName, folder: string): Promise<EngineServer> {
  if (name === 'redis') {
    const server = await redisServer({ durable: true });
    await server.start();
    return {
      url: `redis://127.0.0.1:${String(server.port)}`,
      hasProcess: true,
      kill: () => server.kill(),
      restart: () => server.start(),
      remove: () => server.stop(),
    };
  }
  if (name === 'postgres' || name === 'mysql') {
    const server =
      name === 'mysql' ? await startMysql({ fsync: true }) : await startPostgres({ fsync: true });
    return {
      url: server.url,
      hasProcess: true,
      kill: () => server.kill(),
      // Retried, because Postgres refuses to start while a process of the old server remains.
      restart: () => retryUntilSuccess(() => server.start()),
      freeze: () => {
        server.freeze();
      },
      thaw: () => {
        server.thaw();
      },
      remove: () => server.remove(),
    };
  }
  const nothing = () => Promise.resolve();
  return {
    url: join(folder, 'calls.db'),
    hasProcess: false,
    kill: nothing,
    restart: nothing,
    remove: nothing,
  };
}
