import { WebhookError } from '@call-webhooks/core';
import type { ReconcileReceiver } from '@call-webhooks/recovery';
import { endingOf, postSigned } from '../../receiver/post-signed.ts';
import type { Target } from '../../receiver/target.ts';

/**
 * A running receiver, as `reconcile` uses one. It gets each event as a signed webhook, and knows by its
 * own store which of them it has handled.
 */
export function httpReceiver(target: Target): ReconcileReceiver {
  return {
    async deliver(event) {
      const body = Buffer.from(JSON.stringify(event));
      const answer = await postSigned(body, target, `reconcile-${crypto.randomUUID()}`);
      const { code, message } = endingOf(answer, target, 'Nothing was lost: run it again.');
      return { outcome: code, error: new WebhookError(code, message) };
    },
  };
}

/** For `--dry-run`: no event is sent. */
export const noReceiver: ReconcileReceiver = {
  deliver: () => Promise.resolve({ outcome: 'ignored' as const }),
};
