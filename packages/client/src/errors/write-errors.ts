import { brand, ClientError, hide } from './client-error.ts';

/** The writes that yield a signing secret. */
export type WriteOperation = 'add-webhook' | 'rotate-signing-secret';

const effects: Readonly<Record<WriteOperation, readonly [maybe: string, done: string]>> = {
  'add-webhook': ['The webhook action may have been created', 'The webhook action was created'],
  'rotate-signing-secret': [
    'The signing secret may have been rotated',
    'The signing secret was rotated',
  ],
};

/**
 * A write that may have happened although its new secret did not arrive: the connection broke or
 * timed out after something was sent, the service answered 5xx or with a redirect that is not
 * followed, the call was aborted, or the response holds no `whsec_` string, or only old ones. The
 * message tells which, and `cause` holds the error behind it, if there is one.
 */
export class UnconfirmedWriteError extends ClientError {
  static {
    brand(this, 'UnconfirmedWriteError');
  }

  /** Always `'write-unconfirmed'`. */
  readonly code = 'write-unconfirmed';
  /** Which write it was. */
  readonly operation: WriteOperation;
  /** The whole response, if there was one. Not printed. */
  declare readonly response: unknown;

  constructor(
    operation: WriteOperation,
    why: string,
    options: { readonly cause?: unknown; readonly response?: unknown } = {},
  ) {
    super(
      `${effects[operation][0]}: ${why}. Check the action in the service, and rotate its secret to get a known one`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.operation = operation;
    hide(this, 'response', options.response);
  }
}

/** One of the secrets to choose from. */
export interface SecretChoice {
  /** Where it is in the response, such as `actions.1.signingSecret`. */
  readonly path: string;
  /** The secret. Keep it out of logs. */
  readonly secret: string;
}

/**
 * The write has happened, but its response holds several secrets, and nothing tells which of them
 * belongs to the action. Choose one of `choices` yourself, and set `wire.secretField` so that the
 * next call finds it. The message lists the paths; no secret is printed.
 */
export class AmbiguousSecretError extends ClientError {
  static {
    brand(this, 'AmbiguousSecretError');
  }

  /** Always `'secret-ambiguous'`. */
  readonly code = 'secret-ambiguous';
  /** Which write it was. */
  readonly operation: WriteOperation;
  /** The secrets that may be the one. Not printed. */
  declare readonly choices: readonly SecretChoice[];
  /** The whole response. Not printed. */
  declare readonly response: unknown;

  constructor(
    operation: WriteOperation,
    choices: readonly SecretChoice[],
    options: { readonly response: unknown; readonly note?: string },
  ) {
    super(
      `${effects[operation][1]}, but it is unclear which secret of the response belongs to the action: ` +
        `${choices.map(({ path }) => `"${path}"`).join(', ')}. ` +
        `Choose one of "choices" on this error (not printed), and set wire.secretField to its path${options.note ?? ''}`,
    );
    this.operation = operation;
    hide(this, 'choices', choices);
    hide(this, 'response', options.response);
  }
}

/**
 * The secret was rotated, but the store did not save the new one. Call `retry()` to save it again,
 * or put `secret` where your receiver reads it. Until then deliveries fail verification, and the
 * service retries them. Neither the message, `util.inspect` nor JSON shows a secret.
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
        'Call retry() on this error, or save its "secret" property (not printed) yourself, now',
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

  /** What the store should have saved: the new secret, and the old ones that are still valid. */
  get secrets(): readonly T[] {
    return this.#secrets;
  }

  /** Saves again. Rejects with what the store throws. */
  retry(): Promise<void> {
    return this.#save();
  }
}
