// The types of the control API below `/_sim`, for programs that use it over HTTP. They need neither
// Node nor the simulator itself, so a page in a browser can import them too.
export type { Call, CallInput, CallRecording, PlacedCallInput } from './calls/call.ts';
export type { ChaosMode, ChaosSettings } from './chaos/modes.ts';
export type { Answer } from './deliveries/answer.ts';
export type { Attempt, Delivery, DeliveryState } from './deliveries/delivery.ts';
export type { FailureReason, Verdict } from './deliveries/verdict.ts';
export type { Mail } from './outbox/mail.ts';
export type {
  Action,
  ActionInput,
  EventName,
  PauseReason,
  Rule,
  RuleInput,
  RuleTrigger,
} from './rules/rule.ts';
export type {
  AttemptSummary,
  ChangesView,
  ClockView,
  CountsView,
  DeliverySummary,
  PolicyView,
  SecretsView,
  StateView,
} from './control/view-types.ts';
