import type {
  DeliverySummary,
  DeliveryView,
  OutcomesView,
  StateView,
} from '@call-webhooks/simulator/control-api';
import { callJson } from '@call-webhooks/ui';
import { WINDOW, type Filter } from './delivery-window.ts';

/**
 * Calls the simulator's control API.
 * @param path below `/_sim`
 * @throws ApiError with the message of the response
 */
export const callApi = <Body>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Body> =>
  callJson<Body>({
    method,
    url: `/_sim${path}`,
    body,
    unreachable: 'The simulator cannot be reached. Is it still running?',
  });

/** The ways to advance the clock. A real clock also passes by itself. */
export const ADVANCE = {
  next: () => callApi('POST', '/clock/next'),
  fiveMinutes: () => callApi('POST', '/clock/advance', { by: '5m' }),
  untilIdle: () => callApi('POST', '/clock/run-until-idle'),
} as const;

/** @throws ApiError */
export const fetchState = (): Promise<StateView> => callApi('GET', '/state');

/** The latest deliveries that match, oldest first. @throws ApiError */
export function fetchDeliveries(filter: Filter): Promise<DeliverySummary[]> {
  const query = new URLSearchParams({ limit: String(WINDOW) });
  for (const [name, value] of Object.entries<string | undefined>(filter))
    if (value !== undefined) query.set(name, value);
  return callApi('GET', `/deliveries?${query.toString()}`);
}

/** One delivery with its bodies and headers. @throws ApiError */
export const fetchDelivery = (id: string): Promise<DeliveryView> =>
  callApi('GET', `/deliveries/${id}`);

/** What outcomes mean. @throws ApiError */
export const fetchOutcomes = (): Promise<OutcomesView> => callApi('GET', '/outcomes');
