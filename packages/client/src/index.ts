export {
  createClient,
  type CallListOptions,
  type CallRecord,
  type Calls,
  type Client,
  type EventListOptions,
  type Events,
} from './client.ts';
export { type Clock, systemClock } from './clock.ts';
export {
  ApiError,
  ClientError,
  ConfigurationError,
  NetworkError,
  SearchSyntaxError,
  TimeoutError,
  UnconfirmedWriteError,
  type ApiErrorCode,
  type ApiErrorDetails,
  type ConfigurationErrorCode,
  type FoundSecret,
  type TimeoutPhase,
  type UnconfirmedWriteCode,
  type WriteOperation,
} from './errors.ts';
export * from './events.ts';
export {
  defaultWireNames,
  version,
  type ClientOptions,
  type Fetch,
  type FetchInit,
  type RequestNotice,
  type RetryOptions,
  type WebhookInput,
  type WireNames,
} from './options.ts';
export type { Page, PageOptions } from './paging.ts';
export type { Recording, RecordingAvailable, Recordings } from './recordings.ts';
export type { SavedRecording, SaveOptions, SaveProgress } from './save-recording.ts';
export type { RecordingOptions } from './open-recording.ts';
export { replaceFile } from './replace-file.ts';
export {
  liveSecrets,
  secretsFrom,
  type ProvidedSecret,
  type RotatedSecret,
  type RotateIntoOptions,
  type SecretStore,
  type StoredSecret,
  type SecretResponse,
} from './rotate-into.ts';
export type { Rules, WriteOptions } from './rules.ts';
export {
  parseEventSearch,
  type EventSearchTree,
  type FromTerm,
  type NamedTerm,
  type OperatorName,
  type ToTerm,
} from './search/parse.ts';
export { searchText, type SearchParts } from './search/text.ts';
