// The types of the control API below `/_sim`, for programs that use it over HTTP.
export { type Duration, parseDuration } from './clock/duration.ts';
export type { Call, CallInput, CallRecording, PlacedCallInput } from './calls/calls.ts';
export type { ChaosMode, ChaosSettings } from './chaos.ts';
export type {
  Attempt,
  AttemptResponse,
  AttemptResult,
  Delivery,
  DeliveryState,
  FailureReason,
} from './deliveries/delivery.ts';
export type { Mail } from './outbox.ts';
export type {
  Action,
  ActionChanges,
  ActionInput,
  EventName,
  PauseReason,
  Rule,
  RuleInput,
  RuleTrigger,
} from './rules/rules.ts';
export type {
  AttemptSummary,
  ChangesView,
  ClockView,
  CountsView,
  DeliverySummary,
  DeliveryView,
  OutcomesView,
  PolicyView,
  SecretsView,
  StateView,
} from './http/views.ts';
