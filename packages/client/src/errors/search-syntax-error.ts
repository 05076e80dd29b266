import { brand } from './brand.ts';
import { ClientError } from './client-error.ts';

/** Why a search text or a value of the builder is refused. */
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
  | 'any-as-text';

/** A search that the language of `GET /v1/events` cannot express. Nothing was sent. */
export class SearchSyntaxError extends ClientError {
  static {
    brand(this, 'SearchSyntaxError');
  }

  /** Always `'search-syntax'`. */
  readonly code = 'search-syntax';
  /** What is wrong. */
  readonly reason: SearchSyntaxReason;
  /** The index of the offending character in the parsed text; undefined from the builder. */
  readonly position: number | undefined;

  constructor(reason: SearchSyntaxReason, message: string, position?: number) {
    super(position === undefined ? message : `${message} (at position ${position})`);
    this.reason = reason;
    this.position = position;
  }
}
