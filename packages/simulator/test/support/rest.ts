import type { ActivityEvent } from '@call-webhooks/client';
import type { Simulator } from '@call-webhooks/simulator';

/** Asks the REST side, with the token unless headers say otherwise. */
export function restOf(simulator: Simulator) {
  return (path: string, init: RequestInit = {}) =>
    fetch(`${simulator.url}/v1${path}`, {
      ...init,
      headers: { 'X-API-Token': simulator.apiToken, ...(init.headers as Record<string, string>) },
    });
}

/** The JSON of a GET. */
export async function getJson<Body>(simulator: Simulator, path: string): Promise<Body> {
  return (await (await restOf(simulator)(path)).json()) as Body;
}

/** A page of `GET /v1/events`. */
export const getEvents = (simulator: Simulator, query: Record<string, string> = {}) =>
  getJson<{ results: ActivityEvent[] }>(
    simulator,
    `/events?${new URLSearchParams(query).toString()}`,
  );

/** The events that a search finds. */
export const searchEvents = async (simulator: Simulator, search: string) =>
  (await getEvents(simulator, { search })).results;
