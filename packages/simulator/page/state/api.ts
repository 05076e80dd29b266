import type {
  Call,
  DeliveryPage,
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
  /** Enough for any retry: the service waits five minutes, give or take half a minute. */
  sixMinutes: () => callApi('POST', '/clock/advance', { by: '6m' }),
  untilIdle: () => callApi('POST', '/clock/run-until-idle'),
} as const;

/** @throws ApiError */
export const fetchState = (): Promise<StateView> => callApi('GET', '/state');

/** A filter as the query of a request. */
export function queryOf(filter: Filter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries<string | undefined>(filter))
    if (value !== undefined) query.set(name, value);
  return query.toString();
}

/** One page of the deliveries that match. @throws ApiError */
export const fetchDeliveries = (filter: Filter): Promise<DeliveryPage> =>
  callApi('GET', `/deliveries/page?limit=${String(WINDOW)}&${queryOf(filter)}`);

/** The latest calls that match a text, the oldest first. @throws ApiError */
export const fetchCalls = (q: string, limit: number): Promise<Call[]> =>
  callApi('GET', `/calls?${new URLSearchParams({ q, limit: String(limit) }).toString()}`);

/** One delivery with its bodies and headers. @throws ApiError */
export const fetchDelivery = (id: string): Promise<DeliveryView> =>
  callApi('GET', `/deliveries/${id}`);

/** What outcomes mean. @throws ApiError */
export const fetchOutcomes = (): Promise<OutcomesView> => callApi('GET', '/outcomes');
