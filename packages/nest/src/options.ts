import type { ReceiverOptions } from '@call-webhooks/core';

/**
 * The options of a receiver and where it is mounted. The handlers and the schemas of extra events come
 * from `@OnCallEvent`.
 */
export interface CallWebhooksModuleOptions extends Omit<ReceiverOptions, 'on' | 'events'> {
  /** The path of the receiver, such as `'/hook'`. A trailing slash makes no difference. */
  path: string;
  /** Whether the path is below the app's global prefix, as those of controllers are; `false` by default. */
  useGlobalPrefix?: boolean | undefined;
  /** Milliseconds that `app.close()` waits for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
}

/** What a class for `forRootAsync({ useClass })` implements. */
export interface CallWebhooksOptionsFactory {
  createCallWebhooksOptions(): CallWebhooksModuleOptions | Promise<CallWebhooksModuleOptions>;
}
