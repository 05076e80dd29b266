import { createCalls, type Calls } from './calls/calls.ts';
import { createEvents, type Events } from './events/events.ts';
import { createTransport } from './http/transport.ts';
import type { ClientOptions } from './options.ts';
import { createRecordings, type Recordings } from './recordings/recordings.ts';
import { createRules, type Rules } from './rules/rules.ts';
import { resolveSettings } from './settings.ts';

/** The REST side of the service. It holds no connection and needs no closing. */
export interface Client {
  /** Activity events on sent messages. */
  readonly events: Events;
  /** Calls and their recordings. */
  readonly calls: Calls;
  /** Recordings that webhook events announce. */
  readonly recordings: Recordings;
  /** Webhook actions of rules, and their signing secrets. */
  readonly rules: Rules;
}

/**
 * Makes a client for one service and one API token.
 *
 * @throws {ConfigurationError} for an option that cannot work: a base URL that is not https (plain
 * http is for loopback, or `allowInsecure`), a token that is no header text, a limit out of range
 */
export function createClient(options: ClientOptions): Client {
  const settings = resolveSettings(options);
  const transport = createTransport(settings);
  const recordings = createRecordings(settings, transport);
  return Object.freeze({
    events: createEvents(settings, transport),
    calls: createCalls(settings, transport, recordings),
    recordings,
    rules: createRules(settings, transport),
  });
}
