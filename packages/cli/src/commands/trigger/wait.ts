import type { Call, DeliverySummary } from '@call-webhooks/simulator';
import type { Connection } from '../../simulator/connection.ts';
import { isFinished, wasAttempted } from '../../simulator/deliveries.ts';
import { changesOf } from '../../simulator/updates.ts';

/** Which deliveries to wait for. */
export interface Awaited {
  readonly callIds: readonly string[];
  /** Only deliveries of this event. Without it, all deliveries of the calls. */
  readonly eventName?: string | undefined;
  /** Wait until each has succeeded or failed for good, not only for its first response. */
  readonly retries: boolean;
}

const hasEnded = (call: Call): boolean =>
  call.loggedAt !== undefined && (!call.recorded || call.recording !== undefined);

/**
 * Watches the simulator. Call this before the calls are placed, and the returned function after:
 * it waits until the receiver has responded to everything that the calls caused.
 */
export async function watchDeliveries(
  connection: Connection,
): Promise<(awaited: Awaited) => Promise<DeliverySummary[]>> {
  const changes = await changesOf(connection);
  return async (awaited) => {
    let state = await readState(connection, awaited);
    if (!state.done)
      for await (const _ of changes) {
        state = await readState(connection, awaited);
        if (state.done) break;
      }
    return state.deliveries;
  };
}

async function readState(
  connection: Connection,
  { callIds, eventName, retries }: Awaited,
): Promise<{ done: boolean; deliveries: DeliverySummary[] }> {
  const isDone = retries ? isFinished : wasAttempted;
  const deliveries: DeliverySummary[] = [];
  let done = true;
  for (const callId of callIds) {
    const query = { callId, eventName, limit: 10_000 };
    const found = await connection.get<DeliverySummary[]>('/deliveries', query);
    deliveries.push(...found);
    done &&= found.every(isDone);
    if (done && eventName === undefined)
      done = hasEnded(await connection.get<Call>(`/calls/${callId}`));
  }
  return { done, deliveries };
}
