import type { EventCalls } from './event-calls.ts';
import { isOne, whole } from './script-runner.ts';

/** What a claim of the group alone gave. */
type GroupState = 'held' | 'busy';

/**
 * So much longer is a group leased than its event, whose lease comes after it: a call of the store
 * takes at most 10 s.
 */
const AHEAD_MS = 10_000;

/**
 * The leases of groups on a cluster: no script reaches both the event and the group, so each gets a
 * call of its own. Anywhere else the scripts of the event do it all.
 */
export class GroupLeases {
  readonly #calls: EventCalls;

  constructor(calls: EventCalls) {
    this.#calls = calls;
  }

  /**
   * @param name of the group's lease
   * @param admit runs the script that admits the event
   */
  async admit(
    name: string,
    token: string,
    leaseMs: number,
    admit: (state: GroupState) => Promise<unknown>,
  ): Promise<unknown> {
    const held = isOne(
      await this.#calls.run('takeGroup', [name], [token, whole(leaseMs) + AHEAD_MS]),
    );
    let admitted = false;
    try {
      const reply = await admit(held ? 'held' : 'busy');
      admitted = Number(reply) > 0;
      return reply;
    } finally {
      if (held && !admitted) await this.free(token, name);
    }
  }

  /**
   * @param reply of a script that ended the event's lease
   * @returns whether it was held
   */
  free(token: string, reply: unknown): boolean | Promise<boolean> {
    const name = nameIn(reply);
    if (name === undefined) return isOne(reply);
    // The event is settled. If this fails, the group's lease runs out.
    const isFree = () => true;
    return this.#calls.run('freeGroup', [name], [token]).then(isFree, isFree);
  }

  /** @param reply of the script that extended the event's lease */
  async extend(token: string, leaseMs: number, reply: unknown): Promise<boolean> {
    const name = nameIn(reply);
    if (name === undefined) return isOne(reply);
    return isOne(await this.#calls.run('extendGroup', [name], [token, whole(leaseMs) + AHEAD_MS]));
  }
}

/** The group's lease, if the script could not reach it. */
const nameIn = (reply: unknown) =>
  typeof reply === 'string' && reply.endsWith(':group') ? reply : undefined;
