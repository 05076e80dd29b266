/** Codes of `SimulatorError`. They are stable; the messages are for people. */
export type SimulatorErrorCode =
  /** An option or an argument has a value that it can't have. */
  | 'invalid-input'
  /** No rule, action, call, delivery or message has this id. */
  | 'not-found'
  /** It exists, but its state does not allow this (a call that ended already). */
  | 'conflict'
  /** A receiver's URL is not on this machine, and `allowExternal` is off. */
  | 'external-target'
  /** The file of `db` can't be read or is no snapshot. */
  | 'bad-snapshot'
  /** Another simulator, in this process or another one, keeps its state in the file of `db`. */
  | 'db-in-use';

const BRAND = Symbol.for('@call-webhooks/SimulatorError');

/** The one error class of this package. `instanceof` works across copies of it (ESM and CJS). */
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
