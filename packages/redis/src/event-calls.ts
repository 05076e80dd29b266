import { TurnBatch, type BatchedCall } from '@call-webhooks/core/internal';
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
  /** What the call resolves with. */
  read(reply: unknown): unknown;
}

type Batch = readonly BatchedCall<EventCall, unknown>[];

/** So few that the server works on one batch while the next ones are made. */
const MAX_BATCH = 16;

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

  /** @param read makes the result of the script's reply */
  run<Result>(
    name: EventCallName,
    slot: string,
    keys: string[],
    args: EventCall['args'],
    read: (reply: unknown) => Result | Promise<Result>,
  ): Promise<Result> {
    return this.#batch.add({ name, slot, keys, args, read }) as Promise<Result>;
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
  for (const [index, { call, resolve, reject }] of batch.entries())
    try {
      resolve(call.read(checked(replies[index])));
    } catch (error) {
      reject(error);
    }
}

/** @throws Error if the call failed among others */
function checked(reply: unknown): unknown {
  if (typeof reply === 'string' && reply.startsWith(FAILED)) throw new Error(reply.slice(1));
  return reply;
}

/** Nothing was run. */
const spansSlots = (error: unknown) => error instanceof Error && /cross_?slot/i.test(error.message);
