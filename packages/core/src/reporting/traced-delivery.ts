import { traced, type DeliveryMessage } from '../channels/channels.ts';
import type { TracingChannel } from '../channels/types.ts';
import type { Outcome } from '../outcome/response.ts';
import { withRedactedIds } from '../redact/ids.ts';

/** Runs a delivery within its channel. The outcome that is published has redacted ids. */
export async function tracedDelivery<T extends { readonly outcome: Outcome }>(
  channel: TracingChannel,
  message: DeliveryMessage,
  run: () => Promise<T>,
): Promise<T> {
  let result: T | undefined;
  const step = async () => {
    result = await run();
    return { outcome: withRedactedIds(result.outcome) };
  };
  await traced(channel, message, step);
  return result as T;
}
