import { TurnBatch, type BatchedCall } from '@call-webhooks/core/internal';
import type { ScriptClient } from './clients.ts';
import { EVENT_CALLS, FAILED, type EventCallName } from './event-script.ts';
import { ScriptRunner } from './script-runner.ts';

/** One call of the script. */
interface EventCall {
  name: EventCallName;
  keys: string[];
  args: (string | number)[];
}

type Batch = readonly BatchedCall<EventCall, unknown>[];

/** So few that the server works on one batch while the next ones are made. */
const MAX_BATCH = 16;

/**
 * Makes the calls of one turn of the event loop with one script (decision 12). On a cluster, which
 * runs no script over keys of several slots, each call is a script of its own.
 */
export class EventCalls {
  readonly #rememberFor: number;
  readonly #script: ScriptRunner;
  readonly #batch = new TurnBatch<EventCall, unknown>(MAX_BATCH, (batch) => {
    if (this.#isCluster) this.#runEach(batch);
    else void this.#run(batch);
  });
  #isCluster = false;

  /** @param rememberFor how long a handled event is known; milliseconds */
  constructor(client: ScriptClient, rememberFor: number) {
    this.#rememberFor = rememberFor;
    this.#script = new ScriptRunner(client, EVENT_CALLS);
  }

  /** Whether the server has refused a script over several slots. */
  get isCluster(): boolean {
    return this.#isCluster;
  }

  /** @returns the script's reply to this call */
  run(name: EventCallName, keys: string[], args: EventCall['args']): Promise<unknown> {
    return this.#batch.add({ name, keys, args });
  }

  async #run(batch: Batch): Promise<void> {
    try {
      settle(batch, await this.#replies(batch));
    } catch (error) {
      this.#isCluster ||= spansSlots(error);
      if (spansSlots(error) && batch.length > 1) this.#runEach(batch);
      else for (const { reject } of batch) reject(error);
    }
  }

  #runEach(batch: Batch): void {
    for (const one of batch) void this.#run([one]);
  }

  async #replies(batch: Batch): Promise<unknown[]> {
    const keys: string[] = [];
    const calls: (string | number)[] = [];
    for (const { call } of batch) {
      keys.push(...call.keys);
      calls.push(call.name, ...call.args);
    }
    const replies = await this.#script.run(keys, [this.#rememberFor, calls.join('\n')]);
    if (Array.isArray(replies) && replies.length === batch.length) return replies as unknown[];
    throw new Error('The server gave a reply that the script never gives.');
  }
}

function settle(batch: Batch, replies: readonly unknown[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const reply = replies[index];
    // The call failed among others.
    if (typeof reply === 'string' && reply.startsWith(FAILED)) reject(new Error(reply.slice(1)));
    else resolve(reply);
  }
}

/**
 * Whether a cluster refused a script because its keys are in several slots, or on several nodes. At
 * most, it has remembered the webhook id, for the same token.
 */
export const spansSlots = (error: unknown): boolean =>
  error instanceof Error && /cross_?slot|non local key/i.test(error.message);
