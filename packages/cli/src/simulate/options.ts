import type { SimulatorOptions } from '@call-webhooks/simulator';
import { probabilities } from '../input/chaos.ts';
import type { SecretOptions } from '../input/secrets.ts';
import { DEFAULT_PORT } from '../simulator/address.ts';

/** The flags of `simulate`. */
export interface SimulateOptions extends SecretOptions {
  readonly forwardTo?: readonly string[];
  readonly port?: number;
  readonly clock: string;
  readonly seed?: string;
  readonly retryEvery?: number;
  readonly maxAttempts?: number;
  readonly whilePaused?: string;
  readonly chaos?: readonly string[];
  readonly headerPrefix?: string;
  readonly db?: string;
  readonly apiToken?: string;
  readonly separateSecrets?: boolean;
  readonly secretOut?: string;
  readonly allowExternal?: boolean;
}

/** The flags as the simulator takes them; it checks what they hold. */
export function simulatorOptions(options: SimulateOptions): SimulatorOptions {
  const { port = DEFAULT_PORT, clock, seed, retryEvery, maxAttempts, headerPrefix } = options;
  return {
    port,
    clock: clock as SimulatorOptions['clock'],
    seed,
    retryEvery,
    maxAttempts,
    headerPrefix,
    whilePaused: options.whilePaused as SimulatorOptions['whilePaused'],
    chaos: probabilities(options.chaos ?? []),
    db: options.db,
    apiToken: options.apiToken,
    allowExternal: options.allowExternal,
  };
}
