import type {
  DeliverySummary,
  DeliveryView,
  OutcomesView,
  StateView,
} from '@call-webhooks/simulator/control-api';
import { WINDOW, type Filter } from '../model/delivery-window.ts';

/** An error of the control API, with a message for the user. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Calls the simulator's control API.
 * @param path below `/_sim`
 * @throws ApiError with the message of the response
 */
export async function callApi<Body>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await reach(method, path, body);
  const told: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return told as Body;
  const { error } = (told ?? {}) as { error?: { code?: string; message?: string } };
  throw new ApiError(
    error?.code ?? String(answer.status),
    error?.message ?? `The simulator responded ${String(answer.status)}.`,
  );
}

async function reach(method: string, path: string, body: unknown): Promise<Response> {
  try {
    return await fetch(`/_sim${path}`, {
      method,
      ...(method !== 'GET' && {
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? '' : JSON.stringify(body),
      }),
    });
  } catch {
    throw new ApiError('unreachable', 'The simulator cannot be reached. Is it still running?');
  }
}

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
