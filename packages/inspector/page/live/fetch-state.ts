import type { Delivery, DeliverySummary, StateView } from '@call-webhooks/simulator/control-api';
import { WINDOW, type Filter } from '../model/filter.ts';
import { ask } from './ask.ts';

/** @throws AskError */
export const fetchState = (): Promise<StateView> => ask('GET', '/state');

/** The latest deliveries that match, the oldest first. @throws AskError */
export function fetchDeliveries(filter: Filter): Promise<DeliverySummary[]> {
  const query = new URLSearchParams({ limit: String(WINDOW) });
  for (const [name, value] of Object.entries<string | undefined>(filter))
    if (value !== undefined) query.set(name, value);
  return ask('GET', `/deliveries?${query.toString()}`);
}

/** One delivery with its bodies and headers. @throws AskError */
export const fetchDelivery = (id: string): Promise<Delivery> => ask('GET', `/deliveries/${id}`);
