import { brand } from './brand.ts';
import { ClientError } from './client-error.ts';

/** An option or an argument that cannot work. Thrown before anything is sent. */
export class ConfigurationError extends ClientError {
  static {
    brand(this, 'ConfigurationError');
  }

  /** Always `'configuration'`. */
  readonly code = 'configuration';
}

/** A URL of another origin than the configured one. It is not requested, and gets no token. */
export class ForeignOriginError extends ClientError {
  static {
    brand(this, 'ForeignOriginError');
  }

  /** Always `'foreign-origin'`. */
  readonly code = 'foreign-origin';
  /** The origin that was refused. */
  readonly origin: string;

  constructor(message: string, origin: string) {
    super(message);
    this.origin = origin;
  }
}

/** `saveTo` was called where there is no file system (a browser, a Worker). */
export class UnsupportedRuntimeError extends ClientError {
  static {
    brand(this, 'UnsupportedRuntimeError');
  }

  /** Always `'unsupported-runtime'`. */
  readonly code = 'unsupported-runtime';
}
