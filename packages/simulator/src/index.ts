export { startSimulator } from './start-simulator.ts';
export type { Deliveries, Simulator } from './simulator.ts';
export type { SimulatorOptions } from './options.ts';
export { SimulatorError, type SimulatorErrorCode } from './simulator-error.ts';
export type * from './control-api.ts';
export type { Clock, ClockMode } from './clock/clock.ts';
export type { Duration } from './clock/duration.ts';
export type { Rules } from './rules/rules.ts';
export type { ActionSecret, Secrets } from './rules/secrets.ts';
export type { Calls } from './calls/calls.ts';
export type { DeliveryFilter } from './deliveries/delivery-log.ts';
export type { TlsOptions } from './deliveries/http-sender.ts';
export { CHAOS_MODES, type Chaos } from './chaos/chaos.ts';
export type { Outbox } from './outbox/outbox.ts';
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
  Recipient,
} from './activity/message.ts';
export type { Messages } from './activity/messages.ts';
