import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContenderProcess } from './contender-process.ts';

/** Where a store or queue of this run is: the port of a server on the loopback, or a folder for files. */
interface Server {
  readonly place: string;
  stop(): unknown;
}

export type StoreName = 'memory' | 'redis' | 'postgres' | 'mysql' | 'sqlite';

/**
 * Starts processes, each beside a server of its own. Contenders with the same arguments share one, and the
 * first of them that stops ends both.
 * @param module the URL of a module that exports `serve`, which gets the place of the server and the rest
 */
export function processesBesideServers(module: string) {
  const all = new Map<string, Promise<{ process: ContenderProcess; server: Server }>>();
  async function start(server: Server, args: readonly string[]) {
    return { process: await ContenderProcess.start(module, [server.place, ...args]), server };
  }
  return async (name: StoreName, args: readonly string[]) => {
    const key = args.join('\n');
    const one = all.get(key) ?? startServer(name).then((server) => start(server, args));
    all.set(key, one);
    const { process, server } = await one;
    return {
      process,
      stop: async () => {
        if (!all.delete(key)) return;
        await process.stop();
        await server.stop();
      },
    };
  };
}

/** Commits are on disk when they return, as in production; those of Redis are not. */
async function startServer(name: StoreName): Promise<Server> {
  if (name === 'redis') {
    const { redisServer } = await load<RedisServers>('redis');
    const server = await redisServer();
    await server.start();
    return { place: String(server.port), stop: () => server.stop() };
  }
  if (name === 'postgres') {
    const { startPostgres } = await load<PostgresServers>('postgres');
    // What Postgres advises for a machine with 8 GB: in its default of 128 MB, the index of millions of
    // events has no room.
    const settings = { shared_buffers: '2GB', max_wal_size: '4GB' };
    const { url, remove } = await startPostgres({ fsync: true, settings });
    return { place: new URL(url).port, stop: remove };
  }
  if (name === 'mysql') {
    const { startMysql } = await load<MysqlServers>('mysql');
    const { url, remove } = await startMysql({
      fsync: true,
      settings: { 'innodb-buffer-pool-size': '2G' },
    });
    return { place: new URL(url).port, stop: remove };
  }
  const place = mkdtempSync(join(tmpdir(), 'call-webhooks-bench-'));
  const stop = () => {
    rmSync(place, { recursive: true, force: true });
  };
  return { place, stop };
}

interface RedisServers {
  readonly redisServer: () => Promise<{
    port: number;
    start(): Promise<void>;
    stop(): Promise<void>;
  }>;
}
interface PostgresServers {
  readonly startPostgres: (options: {
    fsync: boolean;
    settings: Record<string, string>;
  }) => Promise<{ url: string; remove: () => Promise<void> }>;
}

interface MysqlServers {
  readonly startMysql: PostgresServers['startPostgres'];
}

/** The servers of the tests are never built, so TypeScript can't follow this import. */
async function load<Module>(module: string): Promise<Module> {
  const { tsImport } = await import('tsx/esm/api');
  const path = `@call-webhooks/contract-tests/servers/${module}`;
  return (await tsImport(path, import.meta.url)) as Module;
}
