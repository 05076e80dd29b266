import { ApiError, UnconfirmedWriteError, type WriteOperation } from '../errors/index.ts';
import type { RequestSpec } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import { findSecrets } from './find-secrets.ts';

/** The answer to a write that yields a signing secret. */
export interface SecretAnswer {
  /** The signing secret: the first `whsec_` string of the answer. Keep it out of logs. */
  readonly secret: string;
  /** Every `whsec_` string of the answer; usually that one. */
  readonly secrets: readonly string[];
  /** The whole answer: parsed where it is JSON, else its text. */
  readonly response: unknown;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// These prove that nothing was done; everything else leaves it open.
function provesNothingDone(error: unknown, sent: boolean): boolean {
  if (!sent) return true;
  if (error instanceof ApiError) return error.status >= 400 && error.status < 500;
  return typeof error === 'object' && error !== null && Reflect.get(error, 'maybeSent') === false;
}

/**
 * Sends a write and finds the secret in its answer.
 *
 * @throws {UnconfirmedWriteError} when the write may have happened, but no secret arrived
 * @throws the transport's error when the write has certainly not happened
 */
export async function confirmWrite(
  transport: Transport,
  operation: WriteOperation,
  spec: RequestSpec,
): Promise<SecretAnswer> {
  let sent = false;
  const text = await transport
    .text({ ...spec, onSend: () => (sent = true) })
    .catch((cause: unknown) => {
      if (provesNothingDone(cause, sent)) throw cause;
      throw new UnconfirmedWriteError(operation, 'no whole answer arrived', { cause });
    });
  const response = parse(text);
  const secrets = findSecrets(response);
  const [secret] = secrets;
  if (secret !== undefined) return { secret, secrets, response };
  throw new UnconfirmedWriteError(operation, 'the answer holds no "whsec_" string', { response });
}
