import {
  AmbiguousSecretError,
  ApiError,
  UnconfirmedWriteError,
  type WriteOperation,
} from '../errors/index.ts';
import type { RequestSpec } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import { valueAt } from '../json-path.ts';
import { chooseSecret, type WantedSecret } from './choose-secret.ts';
import { findSecrets, type FoundSecret } from './find-secrets.ts';

/** The response to a write that yields a signing secret. */
export interface SecretResponse {
  /** The signing secret of the action. Keep it out of logs. */
  readonly secret: string;
  /** Every `whsec_` string of the response. Usually that is `secret` alone. */
  readonly secrets: readonly string[];
  /** The whole response: parsed if it is JSON, else as text. */
  readonly response: unknown;
}

/** How to find the secret in the response to a write. */
export interface SecretSearch extends WantedSecret {
  readonly operation: WriteOperation;
  /** The setting `wire.secretField`. */
  readonly field: string | undefined;
}

/**
 * Sends a write and finds the secret of the action in the response.
 *
 * @throws {UnconfirmedWriteError} if the write may have happened, but no new secret arrived
 * @throws {AmbiguousSecretError} if the response holds several secrets, and nothing tells them apart
 * @throws the error of the transport if the write has certainly not happened
 */
export async function sendWrite(
  transport: Transport,
  spec: RequestSpec,
  search: SecretSearch,
): Promise<SecretResponse> {
  const { operation } = search;
  let sent = false;
  const text = await transport
    .text({ ...spec, onSend: () => (sent = true) })
    .catch((cause: unknown) => {
      if (provesNothingDone(cause, sent)) throw cause;
      throw new UnconfirmedWriteError(operation, 'no complete response arrived', { cause });
    });
  const response = parse(text);
  const found = findSecrets(response);
  const secrets = unique(found);
  if (secrets.length === 0) {
    const why = 'the response holds no "whsec_" string';
    throw new UnconfirmedWriteError(operation, why, { response });
  }
  const { secret, candidates, outdated } = chooseSecret(
    inField(response, search.field) ?? found,
    search,
  );
  if (outdated) throw new UnconfirmedWriteError(operation, noNewSecret, { response });
  if (secret !== undefined) return { secret, secrets, response };
  const choices = candidates.map(({ path, ...one }) => ({
    path: printable(path),
    secret: one.secret,
  }));
  throw new AmbiguousSecretError(operation, choices, { response });
}

const noNewSecret =
  'the response holds no new secret: each was known before, or has a name that says it is old. ' +
  'If a name misleads, set wire.secretField to the field of the new secret';

/** The secret in the configured field. Undefined if the response does not have it there. */
function inField(response: unknown, field: string | undefined): FoundSecret[] | undefined {
  if (field === undefined) return undefined;
  const found = findSecrets(valueAt(response, field));
  return found.length > 0 ? found : undefined;
}

// These prove that nothing was done. Anything else leaves it open.
function provesNothingDone(error: unknown, sent: boolean): boolean {
  if (!sent) return true;
  if (error instanceof ApiError) return error.status >= 400 && error.status < 500;
  return typeof error === 'object' && error !== null && Reflect.get(error, 'maybeSent') === false;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unique(found: readonly FoundSecret[]): string[] {
  return [...new Set(found.map(({ secret }) => secret))];
}

/** A path for messages. Keys are the service's own, so one that is not a plain word is left out. */
function printable(path: readonly string[]): string {
  const keys = path.map((key) => (/^(?!whsec_)[\w-]{1,64}$/.test(key) ? key : '…'));
  return keys.length === 0 ? '(text)' : keys.join('.');
}
