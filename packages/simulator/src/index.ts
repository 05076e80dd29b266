export { startSimulator, type WebhookEvents, type Simulator } from './simulator.ts';
export type { SimulatorOptions } from './options.ts';
export { SimulatorError, type SimulatorErrorCode } from './errors.ts';
export type * from './control-api.ts';
export type { Clock, ClockMode, Duration } from './clock/clock.ts';
export type { Rules } from './rules/rules.ts';
export type { ActionSecret, Secrets } from './rules/secrets.ts';
export type { Calls } from './calls/calls.ts';
export type { WebhookEventFilter } from './events/log.ts';
export type { TlsOptions } from './events/sender.ts';
export { CHAOS_MODES, type Chaos } from './chaos.ts';
export type { Outbox } from './outbox.ts';
export {
  DEFAULT_WORKSPACE,
  type Directory,
  type Sequence,
  type Team,
  type Template,
  type User,
  type Workspace,
} from './activity/directory.ts';
export type {
  Activity,
  ActivityInput,
  Address,
  Message,
  MessageAction,
  MessageInput,
  Messages,
  Recipient,
} from './activity/messages.ts';
