import type { ReceiverOptions } from '@call-webhooks/core';

/**
 * The options of a receiver and where it is mounted. The handlers and the schemas of extra events come
 * from `@OnCallEvent`.
 */
export interface CallWebhooksModuleOptions extends Omit<ReceiverOptions, 'on' | 'events'> {
  /** The path of the receiver, such as `'/hook'`. A trailing slash makes no difference. */
  path: string;
  /**
   * Whether the global prefix of the app is added in front of `path`, as it is for controllers; `false`
   * by default.
   */
  useGlobalPrefix?: boolean | undefined;
  /** The time in milliseconds that `app.close()` waits for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
}

/** The interface of a class that you pass as `useClass` to `forRootAsync`. */
export interface CallWebhooksOptionsFactory {
  /** Returns the options of the receiver. */
  createCallWebhooksOptions(): CallWebhooksModuleOptions | Promise<CallWebhooksModuleOptions>;
}
