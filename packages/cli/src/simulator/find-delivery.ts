import { badInput } from '../cli-error.ts';
import type { Connection } from './connection.ts';
import type { Delivery, DeliverySummary } from './views.ts';

/** A delivery by its id, or by the beginning of it. @throws CliError 2 when that is none, or several */
export async function findDelivery(connection: Connection, id: string): Promise<Delivery> {
  const found = await connection.get<DeliverySummary[]>('/deliveries', { limit: 1_000_000 });
  const matching = found.filter(({ _id }) => _id.startsWith(id));
  const [first] = matching;
  if (!first || id === '')
    throw badInput(
      `There is no delivery ${id}.`,
      'See which there are: call-webhooks deliveries list',
    );
  if (matching.length > 1 && first._id !== id)
    throw badInput(`${String(matching.length)} deliveries begin with ${id}: give more of it.`);
  return connection.get<Delivery>(`/deliveries/${first._id}`);
}
