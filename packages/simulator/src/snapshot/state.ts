import type { Activity, Message } from '../activity/message.ts';
import type { Call } from '../calls/call.ts';
import type { ChaosSettings } from '../chaos/chaos.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Mail } from '../outbox/mail.ts';
import type { Rule } from '../rules/rule.ts';
import type { ActionSecret } from '../rules/secrets.ts';

/** The records of a simulation. They are immutable, so a snapshot may keep the lists. */
export interface Records {
  readonly rule: readonly Rule[];
  readonly secret: readonly (readonly [actionId: string, ActionSecret])[];
  readonly call: readonly Call[];
  readonly delivery: readonly Delivery[];
  readonly mail: readonly Mail[];
  readonly message: readonly Message[];
  readonly activity: readonly Activity[];
}

/** The state besides the records. */
export interface Heading {
  readonly seed: string;
  /** Counts resets. */
  readonly run: number;
  /** The simulator's clock, in milliseconds since the epoch. */
  readonly time: number;
  readonly chaos: ChaosSettings;
  /** How many records were ever created: the ids of later ones derive from it. */
  readonly made: { readonly rules: number; readonly calls: number; readonly deliveries: number };
}

/** The whole state of a simulation. */
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
