import type { HeaderPrefix } from '@call-webhooks/core';
import type { Chaos } from '../chaos/chaos.ts';
import type { TurnableClock } from '../clock/clock.ts';
import type { InFlight } from '../clock/in-flight.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Rules } from '../rules/rules.ts';
import type { Secrets } from '../rules/secrets.ts';
import type { Draws } from '../seed/draws.ts';
import type { DeliveryLog } from './delivery-log.ts';
import type { Send } from './sender.ts';

/** How deliveries are made. Durations in milliseconds of the simulator's clock. */
export interface DeliveryPolicy {
  readonly retryEvery: number;
  /** How far from it a retry may be, at most, as a part of `retryEvery`. */
  readonly retryJitter: number;
  /** The first attempt included. */
  readonly maxAttempts: number;
  readonly acknowledgeWithin: number;
  readonly whilePaused: 'drop' | 'hold';
  readonly maxInFlight: number;
  /** Real milliseconds. */
  readonly slowBodyMs: number;
}

/** What a courier works with. */
export interface CourierParts {
  readonly policy: DeliveryPolicy;
  readonly clock: TurnableClock;
  readonly inFlight: InFlight;
  readonly draws: Draws;
  readonly chaos: Chaos;
  readonly rules: Rules;
  readonly secrets: Secrets;
  readonly outbox: Outbox;
  readonly log: DeliveryLog;
  readonly send: Send;
  readonly headerPrefix: HeaderPrefix;
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** When an attempt is signed; milliseconds since the epoch. */
  readonly signingTime: () => number;
}
