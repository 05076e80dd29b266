import { join } from 'node:path';
import { startPostgres } from '@call-webhooks/contract-tests/servers/postgres';
import { redisServer } from '@call-webhooks/contract-tests/servers/redis';
import type { EngineName } from './engine.ts';
import { persist } from './persist.ts';

/** What receivers and workers share, on this machine and for this run alone. */
export interface EngineServer {
  url: string;
  /** SQLite has none. */
  hasProcess: boolean;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again, on what it had written. */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Each is set up to keep what it has acknowledged. */
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
  if (name === 'postgres') {
    const server = await startPostgres({ fsync: true });
    return {
      url: server.url,
      hasProcess: true,
      kill: () => server.kill(),
      // A process of the old one may not be gone yet: the new one refuses to start beside it.
      restart: () => persist(() => server.start()),
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
