export { createClient, type Client } from './client.ts';
export type { ClientOptions, Fetch, FetchInit, RequestNotice, RetryOptions } from './options.ts';
export { version } from './settings.ts';
export { defaultWireNames, type WebhookInput, type WireNames } from './wire.ts';
export { type Clock, systemClock } from './clock.ts';

export * from './errors/index.ts';
export * from './search/index.ts';

export type { EventListOptions, Events } from './events/events.ts';
export {
  ACTIVITY_ACTIONS,
  isActivityAction,
  type ActivityAction,
  type ActivityEvent,
  type ActivityEventFields,
  type ClickedEvent,
  type DownloadedEvent,
  type EventDevice,
  type EventLocation,
  type EventObject,
  type EventRecipient,
  type MeetingConfirmedEvent,
  type OpenedEvent,
  type PollVotedEvent,
  type RepliedEvent,
  type UnknownActivityEvent,
  type UnopenedEvent,
} from './events/activity-event.ts';
export type { Page, PageOptions } from './paging/page.ts';

export type { CallListOptions, CallRecord, Calls } from './calls.ts';
export type { Recording, RecordingOptions } from './recordings/recording.ts';
export type { SavedRecording, SaveOptions, SaveProgress } from './recordings/save/options.ts';
export type { RecordingAvailable, Recordings } from './recordings/recordings.ts';

export type { RotatedSecret, RotateIntoOptions } from './rules/rotate-into.ts';
export type { Rules, WriteOptions } from './rules/rules.ts';
export type { SecretResponse } from './rules/secret-response.ts';
export {
  liveSecrets,
  secretsFrom,
  type ProvidedSecret,
  type SecretStore,
  type StoredSecret,
} from './rules/secret-store.ts';
