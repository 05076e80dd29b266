import { brand } from './brand.ts';
import { ClientError } from './client-error.ts';

/**
 * The connection could not be made, or broke before the answer was whole (a body shorter or longer
 * than its content length counts too). `cause` is a cleaned copy of what `fetch` threw: name,
 * message and code, without the token and the query.
 */
export class NetworkError extends ClientError {
  static {
    brand(this, 'NetworkError');
  }

  /** Always `'network'`. */
  readonly code = 'network';
  /** False when it is certain that nothing of the request can have reached the service. */
  readonly maybeSent: boolean;

  constructor(message: string, options: { readonly maybeSent: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.maybeSent = options.maybeSent;
  }
}
