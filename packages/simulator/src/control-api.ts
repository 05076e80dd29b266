// The types of the control API below `/_sim`, for programs that use it over HTTP. They need neither
// Node nor the simulator itself, so a page in a browser can import them too.
export type { Call, CallInput, CallRecording, PlacedCallInput } from './calls/call.ts';
export type { ChaosMode, ChaosSettings } from './chaos/chaos.ts';
export type {
  Attempt,
  AttemptResponse,
  AttemptResult,
  Delivery,
  DeliveryState,
  FailureReason,
} from './deliveries/delivery.ts';
export type { Mail } from './outbox/mail.ts';
export type {
  Action,
  ActionChanges,
  ActionInput,
  EventName,
  PauseReason,
  Rule,
  RuleChanges,
  RuleInput,
  RuleTrigger,
} from './rules/rule.ts';
export type {
  AttemptSummary,
  ChangesView,
  ClockView,
  CountsView,
  DeliveryPage,
  DeliverySummary,
  DeliveryView,
  OutcomesView,
  PolicyView,
  SecretsView,
  StateView,
} from './control/view-types.ts';
