import { createHash } from 'node:crypto';

/** What vectors are made of. */
export interface VectorOptions {
  /** The clock of the first delivery; milliseconds since the epoch, at a whole second. */
  readonly now: number;
  /** Ids, and secrets other than `secret`, follow from it. */
  readonly seed: string;
  /** The secret of the receiver, `whsec_…`; made from the seed by default. */
  readonly secret?: string | undefined;
  /**
   * How long after an attempt the next one of the same event arrives; seconds, 300 by default, as
   * the service waits. 0 for a receiver whose clock cannot be set.
   */
  readonly retryAfter?: number | undefined;
  /** What each call id begins with; nothing by default. */
  readonly callIdPrefix?: string | undefined;
  /** Instead of `call:completed`: a name that nobody handles keeps handlers from running. */
  readonly eventName?: string | undefined;
  /** Further fields of the call events, such as the user who placed the call. */
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
