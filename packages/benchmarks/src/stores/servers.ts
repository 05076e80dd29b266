/** A server of this run, on a free port of the loopback, in a folder of its own. */
export interface RunningServer {
  readonly port: number;
  stop(): Promise<void>;
}

// The servers of the tests are never built, so TypeScript can't follow these imports either.
async function load(module: string): Promise<unknown> {
  const { tsImport } = await import('tsx/esm/api');
  return tsImport(`@call-webhooks/contract-tests/servers/${module}`, import.meta.url);
}

/** @param options.durable whether it syncs an append-only file before it answers */
export async function startRedis({ durable = false } = {}): Promise<RunningServer> {
  const { redisServer } = (await load('redis')) as {
    redisServer: (options: {
      durable: boolean;
    }) => Promise<RunningServer & { start(): Promise<void> }>;
  };
  const server = await redisServer({ durable });
  await server.start();
  return server;
}

/**
 * One that syncs its log with each commit, as in production.
 * @param settings others of `postgresql.conf`, by name
 */
export async function startPostgres(settings?: Record<string, string>): Promise<RunningServer> {
  const { startPostgres: start } = (await load('postgres')) as {
    startPostgres: (options: {
      fsync: boolean;
      settings: Record<string, string> | undefined;
    }) => Promise<{ url: string; remove(): Promise<void> }>;
  };
  const server = await start({ fsync: true, settings });
  return { port: Number(new URL(server.url).port), stop: () => server.remove() };
}
