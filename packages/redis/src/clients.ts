/** What we call of ioredis: `new Redis()` or `new Cluster()`. */
export interface IoredisClient {
  /** ioredis has it, the others don't. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>;
  readonly status: string;
}

/** What we call of node-redis: `createClient()`, `createCluster()` and the like. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly isOpen?: boolean;
  readonly isReady?: boolean;
}

/** What we call of valkey-glide: `GlideClient` or `GlideClusterClient`. */
export interface GlideClient {
  customCommand(args: string[]): Promise<unknown>;
}

/** What we call of `@upstash/redis`, and of clients that look like it: keys and arguments are lists. */
export interface UpstashClient {
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/** A client of Redis or Valkey that `redisStore` can use. It is connected and closed by its owner. */
export type RedisClient = IoredisClient | NodeRedisClient | GlideClient | UpstashClient;

/** The same call on every client: a script that the server knows, or the script itself. */
export interface ScriptClient {
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/**
 * Tells the clients apart by what they have.
 * @throws TypeError for what is none of them
 */
export function scriptClient(client: RedisClient): ScriptClient {
  if (has(client, 'customCommand')) return overGlide(client as GlideClient);
  if (has(client, 'evalSha')) return overNodeRedis(client as NodeRedisClient);
  if (has(client, 'evalsha') && has(client, 'eval'))
    return has(client, 'defineCommand')
      ? overIoredis(client as IoredisClient)
      : (client as UpstashClient);
  throw new TypeError(
    'redisStore: expected a client of ioredis, node-redis, valkey-glide or @upstash/redis.',
  );
}

function overIoredis(client: IoredisClient): ScriptClient {
  // Else the command would wait in the client for the server to come back, maybe for ever.
  const check = () => {
    if (['reconnecting', 'close', 'end'].includes(client.status)) throw notConnected();
  };
  return {
    async evalsha(sha, keys, args) {
      check();
      return client.evalsha(sha, keys.length, ...keys, ...args);
    },
    async eval(script, keys, args) {
      check();
      return client.eval(script, keys.length, ...keys, ...args);
    },
  };
}

function overNodeRedis(client: NodeRedisClient): ScriptClient {
  const check = () => {
    if (client.isOpen === true && client.isReady === false) throw notConnected();
  };
  return {
    async evalsha(sha, keys, args) {
      check();
      return client.evalSha(sha, { keys, arguments: args });
    },
    async eval(script, keys, args) {
      check();
      return client.eval(script, { keys, arguments: args });
    },
  };
}

function overGlide(client: GlideClient): ScriptClient {
  const call = (command: string, what: string, keys: string[], args: string[]) =>
    client.customCommand([command, what, String(keys.length), ...keys, ...args]);
  return {
    evalsha: (sha, keys, args) => call('EVALSHA', sha, keys, args),
    eval: (script, keys, args) => call('EVAL', script, keys, args),
  };
}

const notConnected = () => new Error('The client is not connected to its server.');

const has = (client: unknown, method: string): boolean =>
  typeof client === 'object' &&
  client !== null &&
  typeof Reflect.get(client, method) === 'function';
