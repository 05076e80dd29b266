import type { DeliverySummary, DeliveryView } from '@call-webhooks/simulator';
import { badInput } from '../errors.ts';
import type { Connection } from './connection.ts';

/** Finds a delivery by its id or the beginning of it. @throws CliError 2 unless there is one */
export async function findDelivery(connection: Connection, id: string): Promise<DeliveryView> {
  const all = await connection.get<DeliverySummary[]>('/deliveries', { limit: 1_000_000 });
  const matching = all.filter(({ _id }) => _id.startsWith(id));
  const [first] = matching;
  if (!first || id === '')
    throw badInput(`There is no delivery ${id}.`, 'List them: call-webhooks deliveries list');
  if (matching.length > 1 && first._id !== id)
    throw badInput(
      `${String(matching.length)} deliveries start with ${id}.`,
      'Give more characters of the id.',
    );
  return connection.get<DeliveryView>(`/deliveries/${first._id}`);
}

/** Whether nothing more will be sent. */
export const isFinished = ({ state }: Pick<DeliverySummary, 'state'>): boolean =>
  state === 'acknowledged' || state === 'failed' || state === 'dropped';

/** Whether there is a response, or there will be none: the rule is paused. */
export const wasAttempted = (delivery: DeliverySummary): boolean =>
  isFinished(delivery) ||
  delivery.state === 'held' ||
  delivery.attempts.some(({ response }) => response !== undefined);
