/** Codes of `SimulatorError`. They are stable; the messages are for people. */
export type SimulatorErrorCode =
  /** An option or an argument is invalid. */
  | 'invalid-input'
  /** No rule, action, call, delivery or message has this id. */
  | 'not-found'
  /** The state of the record does not allow it: the call has already ended, for example. */
  | 'conflict'
  /** A receiver's URL is not on this machine, and `allowExternal` is off. */
  | 'external-target'
  /** The file of `db` cannot be read or written, or is not a snapshot. */
  | 'bad-snapshot'
  /** Another simulator uses the file of `db`. */
  | 'db-in-use';

const BRAND = Symbol.for('@call-webhooks/SimulatorError');

/** The error class of this package. `instanceof` works across its ESM and CJS copies. */
export class SimulatorError extends Error {
  override readonly name = 'SimulatorError';
  readonly code: SimulatorErrorCode;
  readonly [BRAND] = true;

  constructor(code: SimulatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
