import { brand, ClientError } from './client-error.ts';

/** An invalid option or argument. Nothing was sent. */
export class ConfigurationError extends ClientError {
  static {
    brand(this, 'ConfigurationError');
  }

  /** Always `'configuration'`. */
  readonly code = 'configuration';
}

/** A URL of another origin than the configured one. It is not requested and gets no token. */
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

/** Why a search is refused. */
export type SearchSyntaxReason =
  | 'duplicate'
  | 'empty'
  | 'unclosed-quote'
  | 'misplaced-quote'
  | 'invalid-character'
  | 'invalid-date'
  | 'unknown-type'
  | 'operator-in-text'
  | 'text-and-subject'
  | 'subject-and-operators'
  | 'any-as-text';

/** A search that the search language of `GET /v1/events` cannot express. Nothing was sent. */
export class SearchSyntaxError extends ClientError {
  static {
    brand(this, 'SearchSyntaxError');
  }

  /** Always `'search-syntax'`. */
  readonly code = 'search-syntax';
  /** What is wrong. */
  readonly reason: SearchSyntaxReason;
  /** Index of the offending character in the parsed text. Undefined for errors of the builder. */
  readonly position: number | undefined;

  constructor(reason: SearchSyntaxReason, message: string, position?: number) {
    super(position === undefined ? message : `${message} (at position ${position})`);
    this.reason = reason;
    this.position = position;
  }
}
