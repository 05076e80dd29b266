export { ApiError, type ApiErrorCode, type ApiErrorDetails } from './api-error.ts';
export {
  ConfigurationError,
  ForeignOriginError,
  SearchSyntaxError,
  UnsupportedRuntimeError,
  type SearchSyntaxReason,
} from './argument-errors.ts';
export { ClientError } from './client-error.ts';
export {
  InvalidResponseError,
  NetworkError,
  RedirectError,
  TimeoutError,
  type TimeoutPhase,
} from './http-errors.ts';
export {
  AmbiguousSecretError,
  SecretNotSavedError,
  UnconfirmedWriteError,
  type SecretChoice,
  type WriteOperation,
} from './write-errors.ts';
