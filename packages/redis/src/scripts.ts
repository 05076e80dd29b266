import { scriptClient, type RedisClient, type ScriptClient } from './clients.ts';

/** Runs scripts: by their SHA-1 in one round trip, or whole if the server does not know them yet. */
export class Scripts {
  readonly #client: ScriptClient;

  /**
   * @param creator the function that was called with the client
   * @throws WebhookError `invalid-options` if it is no client
   */
  constructor(creator: string, client: RedisClient) {
    this.#client = scriptClient(creator, client);
  }

  get isCluster(): boolean {
    return this.#client.isCluster;
  }

  /** @returns the reply, to be read with `textOf` or `textsOf` */
  async run(script: string, keys: string[], args: (string | number)[] = []): Promise<unknown> {
    try {
      return await this.#run(script, keys, args.map(String));
    } catch (error) {
      throw explained(error);
    }
  }

  async #run(script: string, keys: string[], args: string[]): Promise<unknown> {
    const sha = shas.get(script) ?? (await sha1(script));
    if (this.#client.isAway?.())
      throw new Error(
        'The client is not connected to its server. Its `error` event has the cause, such as a wrong password.',
      );
    await this.#client.checkDatabase?.();
    try {
      return await this.#client.evalsha(sha, keys, args);
    } catch (error) {
      if (!hasCode(error, 'NOSCRIPT')) throw error;
      return this.#client.eval(script, keys, args); // which teaches the server
    }
  }
}

const shas = new Map<string, string>();

/** The name that Redis gives to a script. */
async function sha1(script: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(script));
  const sha = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  shas.set(script, sha.join(''));
  return sha.join('');
}

const decoder = new TextDecoder();

/**
 * The text of a reply. All scripts reply with texts, or lists of them, and each text is behind a `=`. So
 * no option of a client can turn one into something else that has a meaning: numbers, JSON or nothing.
 * @throws Error for every other reply
 */
export function textOf(reply: unknown): string {
  const text = reply instanceof Uint8Array ? decoder.decode(reply) : reply;
  if (typeof text === 'string' && text.startsWith('=')) return text.slice(1);
  throw unexpected();
}

/** @throws Error if it is no list of texts */
export function textsOf(reply: unknown): string[] {
  if (Array.isArray(reply)) return reply.map(textOf);
  throw unexpected();
}

export const unexpected = (): Error =>
  new Error(
    'The client returned a reply that the script cannot return. Look for client options that transform replies.',
  );

/**
 * Whether a server replied with this error. Clients have no property for its code, which begins the
 * message, but for words that valkey-glide puts before it: `… - NoScript: No matching script`.
 */
export function hasCode(error: unknown, code: 'NOSCRIPT' | 'CROSSSLOT' | 'READONLY'): boolean {
  return error instanceof Error && new RegExp(`\\b${code}(?:Error)?\\b`, 'i').test(error.message);
}

/** The error of a server that became a replica, with what to do; any other as it is. */
export function explained(error: unknown): unknown {
  if (!hasCode(error, 'READONLY')) return error;
  const { message } = error as Error;
  return new Error(
    `${message.replace(/\.?$/, '.')} The client is still connected to a server that has become a replica. Set reconnectOnError of ioredis, or use createSentinel of node-redis.`,
    { cause: error },
  );
}

/** The server accepts whole milliseconds above 0 only. */
export function whole(ms: number): number {
  if (!Number.isFinite(ms)) throw new RangeError('A lease needs finite milliseconds.');
  return Math.max(1, Math.ceil(ms));
}
