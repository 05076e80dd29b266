import { TurnBatch, type BatchedCall } from '@call-webhooks/core';
import type { ScriptClient } from './clients.ts';
import { EVENT_CALLS, FAILED, type EventCallName } from './event-script.ts';
import { ScriptRunner } from './script-runner.ts';

/** One call of the script. */
interface EventCall {
  name: EventCallName;
  /** All of its keys begin with it. */
  slot: string;
  keys: string[];
  args: (string | number)[];
}

type Batch = readonly BatchedCall<EventCall, unknown>[];

/** So few that the server works on one batch while the next ones are made. */
const MAX_BATCH = 32;

/** Makes the calls of one turn of the event loop with one script (decision 12). */
export class EventCalls {
  readonly #rememberFor: number;
  readonly #script: ScriptRunner;
  readonly #batch = new TurnBatch<EventCall, unknown>(MAX_BATCH, (batch) => void this.#run(batch));
  /** A cluster runs no script over keys of several slots. */
  #isCluster = false;

  /** @param rememberFor how long a handled event is known; milliseconds */
  constructor(client: ScriptClient, rememberFor: number) {
    this.#rememberFor = rememberFor;
    this.#script = new ScriptRunner(client, EVENT_CALLS);
  }

  /** The script's reply to one call. */
  run(
    name: EventCallName,
    slot: string,
    keys: string[],
    args: EventCall['args'],
  ): Promise<unknown> {
    return this.#batch.add({ name, slot, keys, args });
  }

  async #run(batch: Batch): Promise<void> {
    if (this.#isCluster) {
      this.#runEachSlot(batch);
      return;
    }
    try {
      settle(batch, await this.#replies(batch));
    } catch (error) {
      this.#isCluster ||= spansSlots(error);
      if (spansSlots(error)) this.#runEachSlot(batch);
      else for (const { reject } of batch) reject(error);
    }
  }

  #runEachSlot(batch: Batch): void {
    const slots = new Map<string, BatchedCall<EventCall, unknown>[]>();
    for (const one of batch) {
      const sameSlot = slots.get(one.call.slot);
      if (sameSlot) sameSlot.push(one);
      else slots.set(one.call.slot, [one]);
    }
    for (const calls of slots.values())
      this.#replies(calls).then(
        (replies) => {
          settle(calls, replies);
        },
        (error: unknown) => {
          for (const { reject } of calls) reject(error);
        },
      );
  }

  async #replies(batch: Batch): Promise<unknown[]> {
    const keys: string[] = [];
    const args: (string | number)[] = [this.#rememberFor];
    for (const { call } of batch) {
      keys.push(...call.keys);
      args.push(call.name, ...call.args);
    }
    const replies = await this.#script.run(keys, args);
    if (Array.isArray(replies) && replies.length === batch.length) return replies as unknown[];
    throw new Error('The server gave a reply that the script never gives.');
  }
}

function settle(batch: Batch, replies: readonly unknown[]): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const reply = replies[index];
    if (typeof reply === 'string' && reply.startsWith(FAILED)) reject(new Error(reply.slice(1)));
    else resolve(reply);
  }
}

/** Nothing was run. */
const spansSlots = (error: unknown) => error instanceof Error && /cross_?slot/i.test(error.message);
