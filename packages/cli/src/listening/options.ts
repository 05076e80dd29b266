import type { SecretOptions } from '../input/secrets.ts';

/** The flags of `listen`. */
export interface ListenOptions extends SecretOptions {
  readonly port: number;
  readonly host: string;
  readonly forwardTo?: string;
  readonly allowExternal?: boolean;
  readonly verify: boolean;
  readonly headerPrefix?: string;
  readonly tolerance: number;
  readonly answer?: number;
  readonly body: boolean;
}
