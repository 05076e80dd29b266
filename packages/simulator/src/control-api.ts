// The types of the control API below `/_sim`, for programs that use it over HTTP.
export { type Duration, parseDuration } from './clock/duration.ts';
export type { CallInput, PlacedCallInput } from './calls/calls.ts';
export type { Call, CallRecording } from './calls/call.ts';
export type { ChaosMode, ChaosSettings } from './chaos.ts';
export type {
  Attempt,
  AttemptResponse,
  AttemptResult,
  WebhookEvent,
  WebhookEventState,
  FailureReason,
} from './events/webhook-event.ts';
export type { Mail } from './outbox.ts';
export type { ActionChanges, ActionInput, RuleInput } from './rules/rules.ts';
export type { Action, EventName, PauseReason, Rule, RuleTrigger } from './rules/rule.ts';
export type {
  AttemptSummary,
  ChangesView,
  ClockView,
  CountsView,
  WebhookEventSummary,
  WebhookEventView,
  OutcomesView,
  PolicyView,
  SecretsView,
  StateView,
} from './http/views.ts';
