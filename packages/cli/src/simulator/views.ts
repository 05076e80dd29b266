/** What the control API of a simulator says. */
export type {
  Attempt,
  AttemptSummary,
  Call,
  ChangesView as Changes,
  ChaosSettings,
  ClockView,
  Delivery,
  DeliverySummary,
  Mail,
  Rule,
} from '@call-webhooks/simulator';
