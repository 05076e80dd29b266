import { WebhookError } from '../outcome/webhook-error.ts';

/** Seconds either side of the receiver's clock (spec, "Limits"). */
export const DEFAULT_TOLERANCE_SECONDS = 300;
/** Webhook ids are remembered for at least this long (spec, "Limits"). */
const MIN_REPLAY_MEMORY_MS = 300_000;

/**
 * Refuses a delivery that was signed too long ago, or too far ahead of our clock.
 * @param timestamp Unix seconds, already checked to be plain digits
 * @param now milliseconds
 * @returns Unix seconds
 * @throws WebhookError `timestamp-out-of-tolerance`
 */
export function checkTimestamp(timestamp: string, now: number, toleranceSeconds: number): number {
  const seconds = Number(timestamp);
  const age = Math.floor(now / 1000) - seconds;
  if (Math.abs(age) <= toleranceSeconds) return seconds;
  const side = age > 0 ? 'ago' : 'ahead';
  throw new WebhookError(
    'timestamp-out-of-tolerance',
    `The delivery was signed ${String(Math.abs(age))} s ${side}, more than ${String(toleranceSeconds)} s. If all deliveries say so, this machine's clock is off.`,
  );
}

/**
 * Until when a webhook id has to be remembered: as long as its signature would still verify.
 * @param timestamp Unix seconds
 * @param now milliseconds
 * @returns milliseconds since the epoch
 */
export function replayUntil(timestamp: number, now: number, toleranceSeconds: number): number {
  // One second more: the check above reads the clock in whole seconds.
  const verifiesUntil = (timestamp + toleranceSeconds + 1) * 1000;
  return Math.max(verifiesUntil, now + MIN_REPLAY_MEMORY_MS);
}
