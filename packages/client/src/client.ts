import { createCalls, type Calls } from './calls.ts';
import { createEvents, type Events } from './events/events.ts';
import { createTransport } from './http/transport.ts';
import type { ClientOptions } from './options.ts';
import { createRecordings, type Recordings } from './recordings/recordings.ts';
import { createRules, type Rules } from './rules/rules.ts';
import { resolveSettings } from './settings.ts';

/** A client for the REST interface. It holds no connection and need not be closed. */
export interface Client {
  /** The base URL, without `/v1` and without a slash at its end. */
  readonly baseUrl: string;
  /** Activity events on sent messages. */
  readonly events: Events;
  /** Calls and their recordings. */
  readonly calls: Calls;
  /** Recordings that events announce. */
  readonly recordings: Recordings;
  /** Webhook actions of rules, and their signing secrets. */
  readonly rules: Rules;
}

/**
 * Creates a client for one service and one API token.
 *
 * @throws {ConfigurationError} if an option is invalid: a base URL that is not https (plain http is
 * for loopback, or `allowInsecure`), a token that cannot be sent in a header, a limit out of range
 *
 * @example
 * const client = createClient({
 *   baseUrl: 'https://api.example.com',
 *   apiToken: process.env.API_TOKEN,
 * });
 * const page = await client.events.list({ search: 'type:opened' });
 */
export function createClient(options: ClientOptions): Client {
  const settings = resolveSettings(options);
  const transport = createTransport(settings);
  const recordings = createRecordings(settings, transport);
  return Object.freeze({
    baseUrl: settings.baseUrl.href.replace(/\/$/, ''),
    events: createEvents(settings, transport),
    calls: createCalls(settings, transport, recordings),
    recordings,
    rules: createRules(settings, transport),
  });
}
