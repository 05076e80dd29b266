import { EVENT_NAMES } from '../events/events.ts';
import { WebhookError } from '../outcome/webhook-error.ts';

/** @throws WebhookError `invalid-options` for a handler that no event could reach */
export function checkEventNames(options: {
  on?: object | undefined;
  events?: object | undefined;
}): void {
  const extra = Object.keys(options.events ?? {});
  const known = [...EVENT_NAMES, ...extra];
  const twice = extra.find((name) => (EVENT_NAMES as readonly string[]).includes(name));
  if (twice !== undefined)
    throw new WebhookError(
      'invalid-options',
      `events: "${twice}" is already an event of the service.`,
    );
  const unknown = Object.keys(options.on ?? {}).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new WebhookError(
    'invalid-options',
    `on: there is no event "${unknown}". Known events: ${known.join(', ')}. To handle another event, add its schema to events.`,
  );
}
