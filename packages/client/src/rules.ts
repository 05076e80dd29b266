import {
  ApiError,
  ConfigurationError,
  type FoundSecret,
  UnconfirmedWriteError,
  type WriteOperation,
} from './errors.ts';
import { endpoint, pathSegment, type RequestSpec } from './http/exchange.ts';
import { property } from './http/failure.ts';
import type { Transport } from './http/transport.ts';
import { valueAt } from './json-path.ts';
import type { Settings, WebhookInput } from './options.ts';
import {
  type Rotate,
  type RotatedSecret,
  rotateInto,
  type RotateIntoOptions,
  type SecretResponse,
  type SecretStore,
} from './rotate-into.ts';

/** The options of a write. */
export interface WriteOptions {
  /** Aborts the call. If something was already sent, the call rejects with an UnconfirmedWriteError. */
  readonly signal?: AbortSignal | undefined;
}

/** The webhook actions of rules, and their signing secrets. A write is not retried once it was sent. */
export interface Rules {
  /**
   * Creates a webhook action: `POST /v1/rules/{id}/actions`, with the body that `wire.webhookAction`
   * creates. The secret is taken from `wire.secretField`, or is the only one of the response.
   *
   * @throws {UnconfirmedWriteError} `write-unconfirmed` if the action may exist, but no secret
   * arrived; `secret-ambiguous` if it exists, but the response holds several secrets
   * @throws {ConfigurationError | ApiError | NetworkError | TimeoutError} if nothing was done
   *
   * @example
   * const { secret } = await client.rules.addWebhook('rule-id', { url: 'https://example.com/hook' });
   */
  addWebhook(ruleId: string, input: WebhookInput, options?: WriteOptions): Promise<SecretResponse>;
  /**
   * Rotates the signing secret of an action: `PATCH /v1/rules/{id}/actions/{actionId}`. The next
   * delivery is signed with the new secret. Prefer `rotateInto`, which knows the old secrets too.
   *
   * @throws like `addWebhook`
   */
  rotateSigningSecret(
    ruleId: string,
    actionId: string,
    options?: WriteOptions,
  ): Promise<SecretResponse>;
  /**
   * Rotates the secret, saves the new one, and keeps the old one valid for `overlap`. Secrets of other
   * actions stay as they are. Receivers read the store with `secretsFrom(store)`. After a crash, call
   * it again.
   *
   * @throws {UnconfirmedWriteError} `secret-not-saved` if it was rotated but not saved: call its
   * `retry()`; `secret-ambiguous` if the response holds several new secrets: all of them were saved
   * @throws like `rotateSigningSecret`, and what the store throws, before anything is rotated
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
    const spec = { method: 'PATCH', url, body: { rotateSigningSecret: true }, signal } as const;
    return sendWrite(transport, spec, 'rotate-signing-secret', field, known);
  };
  return {
    async addWebhook(ruleId, input, { signal } = {}) {
      if (!URL.canParse(input.url) || !/^https?:$/.test(new URL(input.url).protocol))
        throw new ConfigurationError('url must be an absolute http or https URL');
      const url = endpoint(baseUrl, actions(ruleId));
      const body = wire.webhookAction(input);
      if (!isJson(input.payload ?? null) || !isJson(body))
        throw new ConfigurationError('the webhook action cannot be written as JSON');
      const spec = { method: 'POST', url, body, signal } as const;
      return sendWrite(transport, spec, 'add-webhook', field, new Set());
    },
    rotateSigningSecret: (ruleId, actionId, { signal } = {}) =>
      rotate({ ruleId, actionId, signal }, new Set()),
    rotateInto: async (store, options) => rotateInto(settings, rotate, store, options),
  };
}

/** A circular object, a BigInt or a function has no JSON form. */
function isJson(value: unknown): boolean {
  try {
    return (JSON.stringify(value) as string | undefined) !== undefined;
  } catch {
    return false;
  }
}

const effects: Readonly<Record<WriteOperation, readonly [what: string, done: string]>> = {
  'add-webhook': ['The webhook action', 'created'],
  'rotate-signing-secret': ['The signing secret', 'rotated'],
};

/** Sends a write and finds the secret in the response that was not `known` before. */
async function sendWrite(
  transport: Transport,
  spec: RequestSpec,
  operation: WriteOperation,
  field: string | undefined,
  known: ReadonlySet<string>,
): Promise<SecretResponse> {
  const [what, done] = effects[operation];
  const unconfirmed = (why: string, more: { cause?: unknown; response?: unknown }) =>
    new UnconfirmedWriteError(
      'write-unconfirmed',
      operation,
      `${what} may have been ${done}: ${why}. Check the action in the service, and rotate its secret to get a known one`,
      more,
    );
  let sent = false;
  const { text } = await transport
    .read({ ...spec, onSend: () => (sent = true) })
    .catch((cause: unknown) => {
      if (provesNothingDone(cause, sent)) throw cause;
      throw unconfirmed('no complete response arrived', { cause });
    });
  const response = parse(text);
  const found = inField(response, field) ?? findSecrets(response);
  if (found.length === 0) throw unconfirmed('the response holds no "whsec_" string', { response });
  const fresh = found.filter(({ secret }) => !known.has(secret));
  const [first] = fresh;
  if (first === undefined)
    throw unconfirmed('each secret of the response was known before', { response });
  if (fresh.every(({ secret }) => secret === first.secret)) return { ...first, response };
  const places = fresh.map(({ path }) => `"${path}"`).join(', ');
  throw new UnconfirmedWriteError(
    'secret-ambiguous',
    operation,
    `${what} was ${done}, but the response holds several secrets that may be the new one: ${places}. ` +
      'Choose one of "secrets" on this error (not printed), and set wire.secretField to its path',
    { secrets: fresh, response },
  );
}

// These prove that nothing was done. Anything else leaves it open.
function provesNothingDone(error: unknown, sent: boolean): boolean {
  if (!sent) return true;
  if (error instanceof ApiError) return error.status >= 400 && error.status < 500;
  return property(error, 'maybeSent') === false;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The secrets in the configured field. Undefined if the response has none there. */
function inField(response: unknown, field: string | undefined): FoundSecret[] | undefined {
  if (field === undefined) return undefined;
  const found = findSecrets(valueAt(response, field));
  return found.length > 0 ? found.map(({ secret }) => ({ path: field, secret })) : undefined;
}

// A whole secret: not the middle of a word, and not shortened or masked.
const secretText = /(?<![\w+/])whsec_[A-Za-z0-9+/]+={0,2}(?![\w+/=*•…-]|\.{2})/g;

/** Finds every signing secret anywhere in a response, whose shape the spec does not show. */
function findSecrets(response: unknown): FoundSecret[] {
  const found: FoundSecret[] = [];
  // Not recursive: a response may be nested deeper than the stack, and its secret is the only copy.
  const left = [{ value: response, path: '' }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, path } = next;
    if (typeof value === 'string')
      for (const [secret] of value.matchAll(secretText))
        found.push({ path: path === '' ? '(text)' : path, secret });
    if (typeof value !== 'object' || value === null) continue;
    // Reversed, so that they are taken off in the order of the response. A key may be the secret.
    for (const [key, inner] of Object.entries(value).reverse()) {
      // Keys are the service's own, so one that is not a plain word is left out of messages.
      const name = /^(?!whsec_)[\w-]{1,64}$/.test(key) ? key : '…';
      const inside = path === '' ? name : `${path}.${name}`;
      left.push({ value: inner, path: inside }, { value: key, path: inside });
    }
  }
  return found;
}
