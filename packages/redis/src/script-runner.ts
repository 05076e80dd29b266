import type { ScriptClient } from './clients.ts';
import { digest } from './digest.ts';

/** Runs one script: by its digest in one round trip, and whole where the server does not know it yet. */
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
    this.#sha ??= await digest('SHA-1', this.#script);
    try {
      return await this.#client.evalsha(this.#sha, keys, texts);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return this.#client.eval(this.#script, keys, texts); // which teaches the server
    }
  }
}

/** The server was restarted or flushed its scripts: `NOSCRIPT …`, in valkey-glide `NoScriptError …`. */
const isUnknownScript = (error: unknown) =>
  error instanceof Error && /\bno_?script/i.test(error.message);
