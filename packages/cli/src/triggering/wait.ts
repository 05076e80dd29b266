import type { Call } from '@call-webhooks/simulator';
import { attempted, isOver } from '../simulator/progress.ts';
import type { Connection } from '../simulator/connection.ts';
import { changesOf } from '../simulator/stream.ts';
import type { DeliverySummary } from '../simulator/views.ts';

/** What is waited for. */
export interface Awaited {
  readonly callIds: readonly string[];
  /** Only deliveries of this event; all that the calls bring about without it. */
  readonly eventName?: string | undefined;
  /** Until each is acknowledged or given up, rather than answered once. */
  readonly retries: boolean;
}

const happened = (call: Call): boolean =>
  call.loggedAt !== undefined && (!call.recorded || call.recording !== undefined);

/**
 * Waits until the receiver has answered everything that the calls bring about.
 * Listening starts with the call of this function: what it returns is to be called afterwards.
 */
export async function answersOf(
  connection: Connection,
): Promise<(awaited: Awaited) => Promise<DeliverySummary[]>> {
  const changes = await changesOf(connection);
  return async (awaited) => {
    let state = await look(connection, awaited);
    if (!state.done)
      for await (const _ of changes) {
        state = await look(connection, awaited);
        if (state.done) break;
      }
    return state.deliveries;
  };
}

async function look(
  connection: Connection,
  { callIds, eventName, retries }: Awaited,
): Promise<{ done: boolean; deliveries: DeliverySummary[] }> {
  const enough = retries ? isOver : attempted;
  const deliveries: DeliverySummary[] = [];
  let done = true;
  for (const callId of callIds) {
    const query = { callId, eventName, limit: 10_000 };
    const found = await connection.get<DeliverySummary[]>('/deliveries', query);
    deliveries.push(...found);
    done &&= found.every(enough);
    if (done && eventName === undefined)
      done = happened(await connection.get<Call>(`/calls/${callId}`));
  }
  return { done, deliveries };
}
