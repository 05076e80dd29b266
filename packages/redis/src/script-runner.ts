import type { ScriptClient } from './clients.ts';

/** Runs one script: by its SHA-1 in one round trip, or whole if the server does not know it yet. */
export class ScriptRunner {
  readonly #client: ScriptClient;
  readonly #script: string;
  #sha: string | undefined;

  constructor(client: ScriptClient, script: string) {
    this.#client = client;
    this.#script = script;
  }

  async run(keys: string[], args: (string | number)[]): Promise<unknown> {
    const texts = args.map(String);
    this.#sha ??= await sha1(this.#script);
    try {
      return await this.#client.evalsha(this.#sha, keys, texts);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return this.#client.eval(this.#script, keys, texts); // which teaches the server
    }
  }
}

/** The name that Redis gives to a script. */
async function sha1(script: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(script));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The server was restarted or flushed its scripts: `NOSCRIPT …`, in valkey-glide `NoScriptError …`. */
const isUnknownScript = (error: unknown) =>
  error instanceof Error && /\bno_?script/i.test(error.message);

/** The server accepts whole milliseconds above 0 only. */
export const whole = (ms: number) => Math.max(1, Math.ceil(ms));

/** Clients reply with numbers, bigints or texts. */
export const isOne = (reply: unknown) => Number(reply) === 1;
