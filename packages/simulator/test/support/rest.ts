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
