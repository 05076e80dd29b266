/** The seven values of `action` that the spec lists under "Activity event types". */
export const ACTIVITY_ACTIONS = [
  'unopened',
  'opened',
  'clicked',
  'downloaded',
  'replied',
  'meetinginvites:confirmed',
  'poll:voted',
] as const;

/** One of the seven activity event types. */
export type ActivityAction = (typeof ACTIVITY_ACTIONS)[number];

/** Whether a text is one of the seven activity event types. Never throws. */
export function isActivityAction(value: unknown): value is ActivityAction {
  return (ACTIVITY_ACTIONS as readonly unknown[]).includes(value);
}
