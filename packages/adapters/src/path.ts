import type { ReceiverOptions, Store, ExtraEvents, StandardSchema } from '@call-webhooks/core';
import { checkOptions, option } from '@call-webhooks/core/internal';

/** The options of a receiver, and the path at which it is mounted. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> = ReceiverOptions<Extra, Custom, S> & {
  /**
   * The whole path, such as `'/hook'`, for use with `app.use`. Other requests are passed on to the next
   * middleware. A trailing slash makes no difference. Without this option, every request that reaches
   * the handler is for the receiver.
   */
  path?: string | undefined;
};

/**
 * Returns a function that decides which requests of an app are for the receiver.
 * @throws WebhookError `invalid-options` for a path that no request can have
 */
export function pathFilter(path: string | undefined): (requested: string) => boolean {
  checkOptions('callWebhooks', { path: option.optional(option.path()) }, { path });
  if (path === undefined) return () => true;
  const own = withoutSlashes(path);
  return (requested) => withoutSlashes(requested) === own;
}

/** Without a regular expression: at thousands of slashes in front of a letter, it takes half a second. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
