export { ApiError, type ApiErrorCode, type ApiErrorDetails } from './api-error.ts';
export {
  ConfigurationError,
  ForeignOriginError,
  UnsupportedRuntimeError,
} from './argument-errors.ts';
export { ClientError } from './client-error.ts';
export { InvalidResponseError } from './invalid-response-error.ts';
export { NetworkError } from './network-error.ts';
export { RedirectError } from './redirect-error.ts';
export { SecretNotSavedError, UnconfirmedWriteError, type WriteOperation } from './rule-errors.ts';
export { SearchSyntaxError, type SearchSyntaxReason } from './search-syntax-error.ts';
export { TimeoutError, type TimeoutPhase } from './timeout-error.ts';
