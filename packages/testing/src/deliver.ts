import { generateSecret, WebhookError, type OutcomeCode } from '@call-webhooks/core';
import { describe, signedBytes, type EventInput, type SigningOptions } from './signed-request.ts';
import { call, type Target, type TargetOptions } from './target.ts';

/** How an event is signed, and where it is delivered. */
export interface DeliverOptions extends SigningOptions, TargetOptions {}

/** The response to a delivery. */
export interface Delivered {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The text of the response body. */
  readonly body: string;
  /**
   * The outcome that the receiver responded with. It is absent if the response is not from a receiver.
   */
  readonly outcome?: OutcomeCode;
}

/**
 * Signs an event and delivers it to an app, a handler or a receiver, without opening a port.
 * @throws WebhookError `invalid-options`, whose message says what to change: the target cannot take a
 *   request, nothing is mounted at the path, or the receiver has another secret than the default one
 * @example
 * const { outcome } = await deliver(app, callCompleted());
 */
export async function deliver(
  target: Target,
  event: EventInput,
  options: DeliverOptions = {},
): Promise<Delivered> {
  const delivered = await send('deliver', target, event, options);
  checkSecret('deliver', delivered, options);
  return delivered;
}

/**
 * Delivers the same event twice, one delivery after the other, as the service does when it retries.
 * Each delivery has its own webhook id and signature.
 * @throws WebhookError `invalid-options`, whose message says what to change
 * @example
 * const [first, second] = await deliverTwice(app, callCompleted()); // handled, duplicate
 */
export async function deliverTwice(
  target: Target,
  event: EventInput,
  options: Omit<DeliverOptions, 'webhookId'> = {},
): Promise<[first: Delivered, second: Delivered]> {
  const first = await send('deliverTwice', target, event, options);
  checkSecret('deliverTwice', first, options);
  return [first, await send('deliverTwice', target, event, options)];
}

/**
 * Delivers an event that is signed with an unknown secret, as a forger would.
 * @throws WebhookError `invalid-options`, whose message says what to change
 * @example
 * expect(await forged(app, callCompleted())).toMatchObject({ status: 401 });
 */
export function forged(
  target: Target,
  event: EventInput,
  options: Omit<DeliverOptions, 'secret'> = {},
): Promise<Delivered> {
  return send('forged', target, event, { ...options, secret: generateSecret() });
}

async function send(
  caller: string,
  target: unknown,
  event: EventInput,
  options: DeliverOptions,
): Promise<Delivered> {
  if (typeof (options as unknown) !== 'object')
    throw wrong(caller, `the options are ${describe(options)}. Pass an object such as { secret }.`);
  const { path, as, ...signing } = options;
  const signed = await signedBytes(caller, event, signing);
  const { status, body } = await call(caller, target, signed, { path, as });
  const outcome = outcomeOf(body);
  // The service pauses the rule at once, so no receiver responds like this.
  if (status === 404 && outcome === undefined)
    throw wrong(
      caller,
      `nothing is mounted at POST ${path ?? '/hook'}, so the response is 404. Pass the path of the receiver: { path: '/…' }.`,
    );
  return { status, body, ...(outcome !== undefined && { outcome }) };
}

function checkSecret(caller: string, { outcome }: Delivered, { secret }: DeliverOptions): void {
  if (outcome === 'signature-mismatch' && secret === undefined)
    throw wrong(
      caller,
      'the receiver has another secret. Pass it as { secret }, set CALL_WEBHOOK_SECRET for both, or create the receiver with TEST_SECRET.',
    );
}

const wrong = (caller: string, what: string) =>
  new WebhookError('invalid-options', `${caller}: ${what}`);

function outcomeOf(body: string): OutcomeCode | undefined {
  try {
    const { outcome } = JSON.parse(body) as { outcome?: unknown };
    return typeof outcome === 'string' ? (outcome as OutcomeCode) : undefined;
  } catch {
    return undefined;
  }
}
