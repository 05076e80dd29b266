import { ConfigurationError } from '../errors/index.ts';
import { endpoint, pathSegment } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import type { Settings } from '../settings.ts';
import type { WebhookInput } from '../wire.ts';
import { confirmWrite, type SecretAnswer } from './confirm-write.ts';
import { rotateInto, type RotatedSecret, type RotateIntoOptions } from './rotate-into.ts';
import type { SecretStore } from './secret-store.ts';

/** The options of a write. */
export interface WriteOptions {
  /** Ends the call. When something was sent by then, it rejects with an UnconfirmedWriteError. */
  readonly signal?: AbortSignal | undefined;
}

/** Webhook actions of rules, and their signing secrets. Writes are not retried once sent. */
export interface Rules {
  /**
   * Creates a webhook action: `POST /v1/rules/{id}/actions`. The spec shows neither body; what is
   * sent is made by `wire.webhookAction`.
   *
   * @throws {UnconfirmedWriteError} when the action may exist, but no secret arrived
   * @throws {ConfigurationError} for an empty id, a url that is not http(s), or a payload that is not
   * JSON
   * @throws {ApiError | NetworkError | TimeoutError} when nothing was done
   */
  addWebhook(ruleId: string, input: WebhookInput, options?: WriteOptions): Promise<SecretAnswer>;
  /**
   * Rotates the signing secret of an action: `PATCH /v1/rules/{id}/actions/{actionId}` with
   * `rotateSigningSecret: true`. The next delivery is signed with the new secret, and a receiver
   * that does not know it refuses it: prefer `rotateInto`.
   *
   * @throws {UnconfirmedWriteError} when it may have been rotated, but no secret arrived
   * @throws {ConfigurationError | ApiError | NetworkError | TimeoutError} when nothing was done
   */
  rotateSigningSecret(
    ruleId: string,
    actionId: string,
    options?: WriteOptions,
  ): Promise<SecretAnswer>;
  /**
   * Rotates, saves the new secret, and keeps the old one valid for the `overlap`. Receivers read
   * the store through `secretsFrom(store)`. A store that cannot be read and written fails the call
   * before anything is rotated.
   *
   * @throws {SecretNotSavedError} when it was rotated but not saved; the error holds the way out
   * @throws as `rotateSigningSecret`, and what the store throws before the rotation
   */
  rotateInto(store: SecretStore, options: RotateIntoOptions): Promise<RotatedSecret>;
}

function checkUrl(value: string): void {
  let protocol: string | undefined;
  try {
    protocol = new URL(value).protocol;
  } catch {
    protocol = undefined;
  }
  if (protocol === 'https:' || protocol === 'http:') return;
  throw new ConfigurationError('url must be an absolute http or https URL');
}

// A circular object, a BigInt and a function have no form in JSON. The message of JSON.stringify
// names keys of the payload, so it is not kept.
function checkJson(what: string, value: unknown): void {
  try {
    if ((JSON.stringify(value) as string | undefined) !== undefined) return;
  } catch {
    // Thrown below.
  }
  throw new ConfigurationError(`${what} cannot be written as JSON`);
}

/** Makes `client.rules`. */
export function createRules(settings: Settings, transport: Transport): Rules {
  const { baseUrl, wire } = settings;
  const actions = (ruleId: string): string => `/rules/${pathSegment('ruleId', ruleId)}/actions`;
  async function rotate(
    ruleId: string,
    actionId: string,
    signal?: AbortSignal,
  ): Promise<SecretAnswer> {
    const url = endpoint(baseUrl, `${actions(ruleId)}/${pathSegment('actionId', actionId)}`);
    const body = { rotateSigningSecret: true };
    return confirmWrite(transport, 'rotate-signing-secret', { method: 'PATCH', url, body, signal });
  }
  return {
    async addWebhook(ruleId, input, { signal } = {}) {
      checkUrl(input.url);
      const url = endpoint(baseUrl, actions(ruleId));
      const body = wire.webhookAction(input);
      if (input.payload !== undefined) checkJson('payload', input.payload);
      checkJson('the body of the webhook action', body);
      return confirmWrite(transport, 'add-webhook', { method: 'POST', url, body, signal });
    },
    rotateSigningSecret: (ruleId, actionId, options) => rotate(ruleId, actionId, options?.signal),
    rotateInto: async (store, options) => rotateInto(settings, rotate, store, options),
  };
}
