import { createHash } from 'node:crypto';

/** The options of `createVectors`. */
export interface VectorOptions {
  /** The time of the first delivery, in milliseconds since the epoch, at a whole second. */
  readonly now: number;
  /** The seed from which ids are derived, and all secrets other than `secret`. */
  readonly seed: string;
  /** The secret of the receiver, `whsec_…`; by default, it is derived from the seed. */
  readonly secret?: string | undefined;
  /**
   * The time between two attempts at the same event, in seconds; 300 by default, as with the service.
   * Use 0 for a receiver whose clock cannot be set.
   */
  readonly retryAfter?: number | undefined;
  /** The beginning of each call id; empty by default. */
  readonly callIdPrefix?: string | undefined;
  /**
   * The name that the events have instead of `call:completed`. A name that the receiver does not handle
   * keeps its handlers from running.
   */
  readonly eventName?: string | undefined;
  /** Further fields of the call events, such as the user who placed the call; none by default. */
  readonly callFields?: object | undefined;
}

/** Ids and secrets by name: the same for the same seed. */
export interface Source {
  readonly now: number;
  /** The receiver's secret. */
  readonly secret: string;
  /** Seconds between two attempts of one event. */
  readonly retryAfter: number;
  uuid(name: string): string;
  callId(name: string): string;
  /** @param bytes the length of the key */
  secretOf(name: string, bytes: number): string;
}

/** @throws RangeError if `now` is not a whole second */
export function createSource(options: VectorOptions): Source {
  const { now, seed, secret, retryAfter = 300, callIdPrefix = '' } = options;
  if (!Number.isSafeInteger(now) || now % 1000 !== 0)
    throw new RangeError('now must be milliseconds at a whole second.');
  const bytesOf = (name: string, bytes: number): Buffer => {
    const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, block) =>
      createHash('sha256')
        .update(`${seed}/${name}/${String(block)}`)
        .digest(),
    );
    return Buffer.concat(blocks).subarray(0, bytes);
  };
  const secretOf = (name: string, bytes: number) =>
    `whsec_${bytesOf(`secret/${name}`, bytes).toString('base64')}`;
  return {
    now,
    retryAfter,
    secret: secret ?? secretOf('receiver', 24),
    uuid(name) {
      const hex = bytesOf(`uuid/${name}`, 16).toString('hex');
      // Version 4, variant 1.
      return hex.replace(
        /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/,
        (_, ...[a = '', b = '', c = '', d = '', e = '']: string[]) => `${a}-${b}-4${c}-8${d}-${e}`,
      );
    },
    callId: (name) => `${callIdPrefix}${bytesOf(`call/${name}`, 12).toString('hex')}`,
    secretOf,
  };
}
