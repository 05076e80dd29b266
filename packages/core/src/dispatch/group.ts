import { withOrigin } from '../outcome/origin.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact/error-text.ts';
import { MAX_KEY_LENGTH, type Route } from './routes.ts';

/** What `oneAtATime` groups by: the payload that the handler gets. */
export interface GroupedEvent {
  eventName?: string | undefined;
  callId?: string | null | undefined;
  [field: string]: unknown;
}

/** `true` groups by `callId`. A function gives an event's group, or nothing for an event of no group. */
export type OneAtATime = true | ((event: GroupedEvent) => string | null | undefined);

/**
 * The group of an event that has a handler.
 * @throws WebhookError `invalid-payload` if the user's function throws or gives no usable text
 */
export function groupOf(
  oneAtATime: OneAtATime | undefined,
  { handle, callId, payload, sensitiveData }: Route,
): string | undefined {
  if (oneAtATime === undefined || !handle) return undefined;
  // What is too long for a key or empty identifies no call.
  if (oneAtATime === true) return isUsable(callId) ? callId : undefined;
  let group: unknown;
  try {
    group = oneAtATime(payload as GroupedEvent);
  } catch (error) {
    const failure = redactedError('invalid-payload', 'oneAtATime failed: ', error, sensitiveData);
    throw withOrigin(failure, { source: 'hook', error, sensitiveData });
  }
  if (group === undefined || group === null) return undefined;
  if (isUsable(group)) return group;
  throw new WebhookError(
    'invalid-payload',
    `oneAtATime must return a text of 1 to ${String(MAX_KEY_LENGTH)} characters, or undefined.`,
  );
}

const isUsable = (group: unknown): group is string =>
  typeof group === 'string' && group !== '' && group.length <= MAX_KEY_LENGTH;
