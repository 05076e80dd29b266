import { callJson } from '@call-webhooks/ui';

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

/** The names that a query of the control API and the address of the page have for the filters. */
const FILTERS = ['state', 'eventName', 'ruleId', 'callId', 'url', 'q'] as const;

/** Which events are shown. A field that is left out matches all. */
export type Filter = Readonly<{ [Name in (typeof FILTERS)[number]]?: string | undefined }>;

/** The same value for each filter. */
export const eachFilter = <Value>(value: (name: keyof Filter) => Value) =>
  Object.fromEntries(FILTERS.map((name) => [name, value(name)])) as Record<keyof Filter, Value>;

/** The query of a request. Fields without a value are left out. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
