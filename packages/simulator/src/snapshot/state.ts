import type { Activity, Message } from '../activity/message.ts';
import type { Call } from '../calls/call.ts';
import type { ChaosSettings } from '../chaos/chaos.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Mail } from '../outbox/mail.ts';
import type { Rule } from '../rules/rule.ts';
import type { ActionSecret } from '../rules/secrets.ts';

/** The records of a simulation. They are never changed, only replaced: a list of them can be kept. */
export interface Records {
  readonly rule: readonly Rule[];
  readonly secret: readonly (readonly [actionId: string, ActionSecret])[];
  readonly call: readonly Call[];
  readonly delivery: readonly Delivery[];
  readonly mail: readonly Mail[];
  readonly message: readonly Message[];
  readonly activity: readonly Activity[];
}

/** What there is but one of. */
export interface Heading {
  readonly seed: string;
  /** Counts resets. */
  readonly run: number;
  /** Of the simulator's clock; milliseconds since the epoch. */
  readonly time: number;
  readonly chaos: ChaosSettings;
  /** How many were ever made, for the ids of those to come. */
  readonly made: { readonly rules: number; readonly calls: number; readonly deliveries: number };
}

/** Everything that a simulation knows; what a snapshot holds. */
export interface State {
  readonly heading: Heading;
  readonly records: Records;
}

export const NO_RECORDS: Records = {
  rule: [],
  secret: [],
  call: [],
  delivery: [],
  mail: [],
  message: [],
  activity: [],
};
