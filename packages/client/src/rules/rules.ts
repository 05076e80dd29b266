import { ConfigurationError } from '../errors/index.ts';
import { endpoint, pathSegment } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import type { Settings } from '../settings.ts';
import type { WebhookInput } from '../wire.ts';
import {
  rotateInto,
  type Rotate,
  type RotatedSecret,
  type RotateIntoOptions,
} from './rotate-into.ts';
import { sendWrite, type SecretResponse } from './secret-response.ts';
import type { SecretStore } from './secret-store.ts';

/** The options of a write. */
export interface WriteOptions {
  /** Aborts the call. If something was sent by then, it rejects with an UnconfirmedWriteError. */
  readonly signal?: AbortSignal | undefined;
}

/** Webhook actions of rules, and their signing secrets. A write is not retried once it was sent. */
export interface Rules {
  /**
   * Creates a webhook action: `POST /v1/rules/{id}/actions`. The spec shows neither body;
   * `wire.webhookAction` creates the request body. If the response holds several secrets, the one
   * beside `input.url` is taken.
   *
   * @throws {UnconfirmedWriteError} if the action may exist, but no secret arrived
   * @throws {AmbiguousSecretError} if the action exists, but its secret is unclear
   * @throws {ConfigurationError} if an id is empty, the url is not http(s), or the payload is not
   * JSON
   * @throws {ApiError | NetworkError | TimeoutError} if nothing was done
   *
   * @example
   * const { secret } = await client.rules.addWebhook('rule-id', { url: 'https://example.com/hook' });
   */
  addWebhook(ruleId: string, input: WebhookInput, options?: WriteOptions): Promise<SecretResponse>;
  /**
   * Rotates the signing secret of an action: `PATCH /v1/rules/{id}/actions/{actionId}` with
   * `rotateSigningSecret: true`. The next delivery is signed with the new secret, and receivers that
   * do not know it reject the delivery. Prefer `rotateInto`. If the response holds several secrets,
   * the one of this action is taken, and not a previous one.
   *
   * @throws {UnconfirmedWriteError} if it may have been rotated, but no new secret arrived
   * @throws {AmbiguousSecretError} if it was rotated, but the new secret is unclear
   * @throws {ConfigurationError | ApiError | NetworkError | TimeoutError} if nothing was done
   */
  rotateSigningSecret(
    ruleId: string,
    actionId: string,
    options?: WriteOptions,
  ): Promise<SecretResponse>;
  /**
   * Rotates the secret, saves the new one, and keeps the old one valid for `overlap`. Secrets of other
   * actions stay as they are. Receivers read the store with `secretsFrom(store)`. Nothing is rotated if the store cannot be read and written.
   * After a crash, call it again.
   *
   * @throws {SecretNotSavedError} if it was rotated but not saved; call its `retry()`
   * @throws {AmbiguousSecretError} if the new secret is unclear; all choices were saved
   * @throws like `rotateSigningSecret`, and what the store throws before the rotation
   */
  rotateInto(store: SecretStore, options: RotateIntoOptions): Promise<RotatedSecret>;
}

/** Creates `client.rules`. */
export function createRules(settings: Settings, transport: Transport): Rules {
  const { baseUrl, wire } = settings;
  const field = wire.secretField;
  const actions = (ruleId: string): string => `/rules/${pathSegment('ruleId', ruleId)}/actions`;
  const rotate: Rotate = async ({ ruleId, actionId, signal }, known) => {
    const url = endpoint(baseUrl, `${actions(ruleId)}/${pathSegment('actionId', actionId)}`);
    const body = { rotateSigningSecret: true };
    const search = { operation: 'rotate-signing-secret', field, actionId, known } as const;
    return sendWrite(transport, { method: 'PATCH', url, body, signal }, search);
  };
  return {
    async addWebhook(ruleId, input, { signal } = {}) {
      checkUrl(input.url);
      const url = endpoint(baseUrl, actions(ruleId));
      const body = wire.webhookAction(input);
      if (input.payload !== undefined) checkJson('payload', input.payload);
      checkJson('the body of the webhook action', body);
      const search = { operation: 'add-webhook', field, url: input.url } as const;
      return sendWrite(transport, { method: 'POST', url, body, signal }, search);
    },
    rotateSigningSecret: (ruleId, actionId, { signal } = {}) =>
      rotate({ ruleId, actionId, signal }, new Set()),
    rotateInto: async (store, options) => rotateInto(settings, rotate, store, options),
  };
}

function checkUrl(value: string): void {
  const protocol = URL.canParse(value) ? new URL(value).protocol : undefined;
  if (protocol === 'https:' || protocol === 'http:') return;
  throw new ConfigurationError('url must be an absolute http or https URL');
}

// A circular object, a BigInt or a function has no JSON form. The message of JSON.stringify names
// keys of the payload, so it is dropped.
function checkJson(what: string, value: unknown): void {
  try {
    if ((JSON.stringify(value) as string | undefined) !== undefined) return;
  } catch {
    // Thrown below.
  }
  throw new ConfigurationError(`${what} cannot be written as JSON`);
}
