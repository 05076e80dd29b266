import { brand } from './brand.ts';
import { ClientError } from './client-error.ts';

/** A 2xx answer that cannot be read: not JSON, not the expected shape, or larger than the limit. */
export class InvalidResponseError extends ClientError {
  static {
    brand(this, 'InvalidResponseError');
  }

  /** Always `'invalid-response'`. */
  readonly code = 'invalid-response';
}
