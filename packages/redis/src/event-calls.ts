import { TurnBatch, type BatchedCall } from '@call-webhooks/core/stores';
import { EVENT_CALLS, type EventCallName } from './event-script.ts';
import { explained, hasCode, textOf, unexpected, type Scripts } from './scripts.ts';

/** One call of the script. */
interface EventCall {
  name: EventCallName;
  keys: string[];
  args: (string | number)[];
}

type Batch = readonly BatchedCall<EventCall, unknown>[];

/** How long what a ping wrote is kept; milliseconds. */
const PING_MS = 1_000;
const PING_TOKEN = 'ping';
/** What a delivery needs: its id, its lease, and the lease of its group. It leaves nothing that is done. */
const PING_CALLS = JSON.stringify([
  ['claim', PING_TOKEN, PING_MS / 2, '', PING_MS],
  ['extend', PING_TOKEN, PING_MS / 2],
  ['release', PING_TOKEN],
  ['takeGroup', PING_TOKEN, PING_MS],
  ['extendGroup', PING_TOKEN, PING_MS],
  ['freeGroup', PING_TOKEN],
]);

/** So few that the server works on one batch while the next ones are made. */
const MAX_BATCH = 16;

/**
 * Makes the calls of one turn of the event loop with one script (decision 12). On a cluster, which
 * runs no script over keys of several slots, each call is a script of its own.
 */
export class EventCalls {
  readonly #scripts: Scripts;
  readonly #rememberFor: number;
  readonly #batch = new TurnBatch<EventCall, unknown>(MAX_BATCH, (batch) => {
    if (this.#isCluster) this.#runEach(batch);
    else void this.#run(batch);
  });
  #isCluster: boolean;

  /** @param rememberFor how long a handled event is known; milliseconds */
  constructor(scripts: Scripts, rememberFor: number) {
    this.#scripts = scripts;
    this.#rememberFor = rememberFor;
    this.#isCluster = scripts.isCluster;
  }

  /** Whether the client is one of a cluster, or its server has refused a script over several slots. */
  isCluster(): boolean {
    return this.#isCluster;
  }

  /** @returns the script's reply to this call */
  run(name: EventCallName, keys: string[], args: EventCall['args']): Promise<unknown> {
    return this.#batch.add({ name, keys, args });
  }

  /**
   * Makes the calls of one delivery in one script, with keys in one slot that nobody else uses. What they
   * write is gone a second later.
   * @throws Error if the server refuses one of them
   */
  async ping(event: string, id: string, group: string): Promise<void> {
    const keys = [event, id, event, event, group, group, group];
    const args = [PING_MS, PING_CALLS, 'together'];
    const replies = listOf(textOf(await this.#scripts.run(EVENT_CALLS, keys, args)));
    const refused = replies.find((reply) => Array.isArray(reply));
    if (refused) throw refusalOf(refused);
  }

  async #run(batch: Batch): Promise<void> {
    const isApart = this.#isCluster;
    try {
      settle(batch, await this.#replies(batch, isApart));
    } catch (error) {
      if (!isApart && spansSlots(error)) {
        this.#isCluster = true; // there is a proxy in front of it
        this.#runEach(batch);
      } else for (const { reject } of batch) reject(error);
    }
  }

  #runEach(batch: Batch): void {
    for (const one of batch) void this.#run([one]);
  }

  async #replies(batch: Batch, isApart: boolean): Promise<unknown[]> {
    const keys = batch.flatMap(({ call }) => call.keys);
    const calls = JSON.stringify(batch.map(({ call }) => [call.name, ...call.args]));
    const args = [this.#rememberFor, calls, isApart ? 'apart' : 'together'];
    const replies = listOf(textOf(await this.#scripts.run(EVENT_CALLS, keys, args)));
    if (replies.length === batch.length) return replies;
    throw unexpected();
  }
}

function listOf(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {
    // no JSON
  }
  throw unexpected();
}

function settle(batch: Batch, replies: readonly unknown[]): void {
  for (const [index, reply] of replies.entries()) {
    // The call failed among others.
    if (Array.isArray(reply)) batch[index]?.reject(refusalOf(reply));
    else batch[index]?.resolve(reply);
  }
}

/** @param reply of a call that the server refused */
const refusalOf = (reply: readonly unknown[]) => explained(new Error(String(reply[0])));

/** At most, the refused script has remembered the webhook id, for the same token. */
const spansSlots = (error: unknown): boolean =>
  hasCode(error, 'CROSSSLOT') || (error instanceof Error && /non local key/.test(error.message));
