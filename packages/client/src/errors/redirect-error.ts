import { brand } from './brand.ts';
import { ClientError } from './client-error.ts';

/** A redirect that is not followed: too many, unsafe, of a write, or hidden by the runtime. */
export class RedirectError extends ClientError {
  static {
    brand(this, 'RedirectError');
  }

  /** Always `'redirect'`. */
  readonly code = 'redirect';
  /** The status of the redirect; 0 where the runtime hides it (a browser). */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
