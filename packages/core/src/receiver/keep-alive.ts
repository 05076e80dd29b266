import { docsUrl } from '../outcome/webhook-error.ts';
import { callErrorHook } from '../reporting/hooks.ts';
import { loggedError } from '../reporting/logged-error.ts';
import { callHook, safeLogger, type Logger } from '../reporting/logger.ts';
import { deliveryFields } from '../reporting/outcome-line.ts';
import type { DeliveryInfo } from '../reporting/reporter.ts';
import type { Settings } from './options.ts';

/** Passes a handler that runs beyond its deadline to the platform's `waitUntil`, if there is one. */
export function keepAlive(
  work: Promise<unknown>,
  waitUntil: ((work: Promise<unknown>) => unknown) | undefined,
  info: DeliveryInfo,
  log: Logger,
  { handlers: { redact, onError } }: Pick<Settings, 'handlers'>,
): void {
  if (!waitUntil) return;
  callHook(waitUntil, work, (error) => {
    const { text, err } = loggedError(error, redact);
    safeLogger(log).warn(
      { ...deliveryFields(info), err, docs: docsUrl('raw-body.md#work-after-the-response') },
      `call-webhooks: waitUntil failed: ${text}`,
    );
    if (onError)
      callErrorHook(onError, [{ source: 'hook', error }], { outcome: 'deadline', ...info });
  });
}
