export { createClient, type Client } from './client.ts';
export type { ClientOptions, Fetch, FetchInit, RequestNotice, RetryOptions } from './options.ts';
export { defaultWireNames, type WebhookInput, type WireNames } from './wire.ts';
export { type Clock, systemClock } from './clock.ts';
export { version } from './version.ts';

export * from './errors/index.ts';
export * from './search/index.ts';

export { ACTIVITY_ACTIONS, isActivityAction, type ActivityAction } from './events/actions.ts';
export type * from './events/types.ts';
export type { EventListOptions, Events } from './events/events.ts';
export type { Page, PageOptions } from './paging/page.ts';

export type { CallListOptions, CallRecord, Calls } from './calls/calls.ts';
export type { Recording } from './recordings/recording.ts';
export type { RecordingAvailable, RecordingOptions, Recordings } from './recordings/recordings.ts';
export type { SavedRecording, SaveOptions, SaveProgress } from './recordings/save/options.ts';

export type { SecretAnswer } from './rules/confirm-write.ts';
export type { RotatedSecret, RotateIntoOptions } from './rules/rotate-into.ts';
export type { Rules, WriteOptions } from './rules/rules.ts';
export { secretsFrom, type ProvidedSecret, type SecretProvider } from './rules/secret-provider.ts';
export { liveSecrets, type SecretStore, type StoredSecret } from './rules/secret-store.ts';
