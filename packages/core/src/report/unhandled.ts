import { docsUrl } from '../errors.ts';
import { redactEventName } from './redact.ts';

/** How many names are remembered: they come from the network, although from an authentic sender. */
const MAX_NAMES = 100;

/**
 * Returns one log line for each event name that has no handler: its events are acknowledged and
 * dropped.
 */
export class UnhandledNames {
  readonly #told = new Set<string | undefined>();

  /** @returns `undefined` if this name was logged before */
  lineOf(eventName: string | undefined): { docs: string; message: string } | undefined {
    const name = eventName === undefined ? undefined : redactEventName(eventName);
    if (this.#told.has(name) || this.#told.size >= MAX_NAMES) return undefined;
    this.#told.add(name);
    const what = name === undefined ? 'a payload without eventName' : `the event "${name}"`;
    const where = name === undefined ? 'Set custom' : 'Add a handler to on';
    const more = this.#told.size === MAX_NAMES ? ' Further names are not logged.' : '';
    const message = `call-webhooks: there is no handler for ${what}, so it is acknowledged with the outcome "ignored" and dropped. ${where}, set onUnhandled for all events without a handler, or stop the rule from sending it. This is logged once for each event name.${more}`;
    return { docs: docsUrl('outcomes.md#ignored'), message };
  }
}
