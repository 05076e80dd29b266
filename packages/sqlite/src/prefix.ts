import { WebhookError } from '@call-webhooks/core';

/** @throws WebhookError `invalid-options` for a prefix that would need quotes */
export function checkedPrefix(prefix = 'call_webhooks_'): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(prefix)) return prefix;
  throw new WebhookError(
    'invalid-options',
    'These options are wrong. prefix: expected lower-case letters, digits and _, at most 63 of them.',
  );
}
