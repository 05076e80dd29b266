import { WebhookError } from '@call-webhooks/core';
import { checkDatabase } from './database.ts';

/** The methods that are used of ioredis: `new Redis()` or `new Cluster()`. */
export interface IoredisClient {
  /** A method that only ioredis has, by which it is recognized. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>;
  readonly status: string;
  readonly isCluster?: boolean;
}

/** The methods that are used of node-redis: `createClient()`, `createCluster()` and the like. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly isOpen?: boolean;
  readonly isReady?: boolean;
}

/** The method that is used of valkey-glide: `GlideClient` or `GlideClusterClient`. */
export interface GlideClient {
  customCommand(args: string[]): Promise<unknown>;
}

/** The method that is used of Bun: `new RedisClient()`. */
export interface BunRedisClient {
  send(command: string, args: string[]): Promise<unknown>;
  readonly connected: boolean;
}

/** The methods that are used of `@upstash/redis`, and of clients like it: keys and arguments are lists. */
export interface UpstashClient {
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/** A client of Redis or Valkey that `redisStore` can use. Its owner connects and closes it. */
export type RedisClient =
  IoredisClient | NodeRedisClient | GlideClient | BunRedisClient | UpstashClient;

/** The same calls on every client: a script that the server knows, or the script itself. */
export interface ScriptClient {
  /** Whether it is connected to a cluster, which runs no script over keys of several slots. */
  readonly isCluster: boolean;
  /** Whether a call would wait in the client until the server is back, maybe for ever. */
  isAway?(): boolean;
  /** Resolves when the client uses the database that it was given. Before the first call. */
  checkDatabase?(): Promise<void>;
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/**
 * Tells the clients apart by their methods.
 * @param creator the function that was called with the client
 * @throws WebhookError `invalid-options` for anything else
 */
export function scriptClient(creator: string, client: RedisClient): ScriptClient {
  const invalid = (mistake: string) =>
    new WebhookError('invalid-options', `Invalid client of ${creator}: ${mistake}.`);
  if (has(client, 'then')) throw invalid('this is a promise. Await it first');
  if (isPipeline(client))
    throw invalid('this is a pipeline or transaction. Pass the client itself');
  if (hasKeyPrefix(client))
    throw invalid('it has a keyPrefix. Pass one without, and set the option prefix instead');
  if (has(client, 'customCommand')) return overGlide(client as GlideClient);
  if (has(client, 'evalSha')) return overNodeRedis(client as NodeRedisClient);
  if (has(client, 'send') && typeof Reflect.get(client, 'connected') === 'boolean')
    return overBun(client as BunRedisClient);
  if (has(client, 'internal_send_command'))
    throw invalid(
      'this is a client of node-redis 3, which has callbacks. Update to version 4 or newer',
    );
  if (has(client, 'evalsha') && has(client, 'eval'))
    return has(client, 'defineCommand')
      ? overIoredis(client as IoredisClient)
      : overUpstash(client as UpstashClient);
  throw invalid('expected a client of ioredis, node-redis, valkey-glide, @upstash/redis or Bun');
}

const overIoredis = (client: IoredisClient): ScriptClient => ({
  isCluster: client.isCluster === true,
  isAway: () => ['reconnecting', 'close', 'end'].includes(client.status),
  checkDatabase: () => checkDatabase(client),
  evalsha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
  eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
});

const overNodeRedis = (client: NodeRedisClient): ScriptClient => ({
  isCluster: 'masters' in client,
  isAway: () => client.isOpen === true && client.isReady === false,
  evalsha: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
  eval: (script, keys, args) => client.eval(script, { keys, arguments: args }),
});

const overUpstash = (client: UpstashClient): ScriptClient => ({
  isCluster: false,
  evalsha: (sha, keys, args) => client.evalsha(sha, keys, args),
  eval: (script, keys, args) => client.eval(script, keys, args),
});

const overGlide = (client: GlideClient): ScriptClient => ({
  ...overCommands((command, args) => client.customCommand([command, ...args])),
  isCluster: has(client, 'invokeScriptWithRoute'),
});

const overBun = (client: BunRedisClient): ScriptClient =>
  overCommands((command, args) => client.send(command, args));

const overCommands = (
  call: (command: string, args: string[]) => Promise<unknown>,
): ScriptClient => ({
  isCluster: false,
  evalsha: (sha, keys, args) => call('EVALSHA', [sha, String(keys.length), ...keys, ...args]),
  eval: (script, keys, args) => call('EVAL', [script, String(keys.length), ...keys, ...args]),
});

/** Of ioredis, of node-redis, of `@upstash/redis`: they only collect commands. */
const isPipeline = (client: unknown) =>
  Reflect.get(Object(client) as object, 'isPipeline') === true ||
  has(client, 'execAsPipeline') ||
  (Object(client) as { constructor?: { name?: unknown } }).constructor?.name === 'Pipeline';

/** Of ioredis, of node-redis. They would prefix the keys of a script, but not those among its arguments. */
function hasKeyPrefix(client: unknown): boolean {
  const { options, _keyPrefix } = Object(client) as {
    options?: { keyPrefix?: unknown } | null;
    _keyPrefix?: unknown;
  };
  return Boolean(options?.keyPrefix ?? _keyPrefix);
}

const has = (client: unknown, method: string): boolean =>
  typeof client === 'object' &&
  client !== null &&
  typeof Reflect.get(client, method) === 'function';
