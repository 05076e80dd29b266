import { unique } from '@call-webhooks/contract-tests';

/** A claim of a new delivery. */
export const claim = <Key extends string | undefined>(key?: Key, leaseMs = 60_000) => ({
  webhookId: unique('webhook'),
  token: unique('token'),
  replayUntil: Date.now() + 300_000,
  leaseMs,
  key: key as Key,
});
