import { brand } from './brand.ts';
import { ClientError, hide } from './client-error.ts';

/** The writes whose outcome may stay unknown. */
export type WriteOperation = 'add-webhook' | 'rotate-signing-secret';

const effects: Readonly<Record<WriteOperation, string>> = {
  'add-webhook': 'The webhook action may have been created',
  'rotate-signing-secret': 'The signing secret may have been rotated',
};

/**
 * A write that may have happened although its new secret did not arrive: the connection broke or
 * timed out after something was sent, the service answered 5xx or with a redirect that is not
 * followed, the call was aborted under way, or
 * the answer holds no `whsec_` string. `cause` tells which.
 */
export class UnconfirmedWriteError extends ClientError {
  static {
    brand(this, 'UnconfirmedWriteError');
  }

  /** Always `'write-unconfirmed'`. */
  readonly code = 'write-unconfirmed';
  /** Which write it was. */
  readonly operation: WriteOperation;
  /** The whole answer, where there was one. Not printed. */
  declare readonly response: unknown;

  constructor(
    operation: WriteOperation,
    why: string,
    options: { readonly cause?: unknown; readonly response?: unknown } = {},
  ) {
    super(
      `${effects[operation]}: ${why}. Look at the action in the service, and rotate again for a known secret`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.operation = operation;
    hide(this, 'response', options.response);
  }
}

/**
 * The secret was rotated, but the store did not take the new one. The way out: `await error.retry()`
 * saves again, or put `error.secret` where your receiver reads it. Until then deliveries fail
 * verification and are retried by the service. Neither the message, `util.inspect` nor JSON shows
 * a secret.
 *
 * @typeParam T the kind of entry that the store keeps
 */
export class SecretNotSavedError<T = unknown> extends ClientError {
  static {
    brand(this, 'SecretNotSavedError');
  }

  /** Always `'secret-not-saved'`. */
  readonly code = 'secret-not-saved';
  readonly #secret: string;
  readonly #secrets: readonly T[];
  readonly #save: () => Promise<void>;

  constructor(options: {
    readonly secret: string;
    readonly secrets: readonly T[];
    readonly save: () => Promise<void>;
    readonly cause: unknown;
  }) {
    super(
      'The signing secret was rotated, but the store did not save the new one. ' +
        'Call retry() on this error, or save its "secret" property (it is not printed) yourself, now',
      { cause: options.cause },
    );
    this.#secret = options.secret;
    this.#secrets = options.secrets;
    this.#save = options.save;
  }

  /** The new secret. It signs from now on; keep it out of logs. */
  get secret(): string {
    return this.#secret;
  }

  /** What the store should have saved: the new secret and the old ones that are still live. */
  get secrets(): readonly T[] {
    return this.#secrets;
  }

  /** Saves again. Rejects with what the store throws. */
  retry(): Promise<void> {
    return this.#save();
  }
}
