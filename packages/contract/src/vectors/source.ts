import { createHash } from 'node:crypto';

/** What vectors are made of. */
export interface VectorOptions {
  /** The clock of the first delivery; milliseconds since the epoch, at a whole second. */
  readonly now: number;
  /** Ids, and secrets other than `secret`, follow from it. */
  readonly seed: string;
  /** The secret of the receiver, `whsec_…`; made from the seed by default. */
  readonly secret?: string | undefined;
}

/** Ids and secrets by name: the same for the same seed. */
export interface Source {
  readonly now: number;
  /** The receiver's secret. */
  readonly secret: string;
  uuid(name: string): string;
  /** A call id of 24 hexadecimal digits. */
  callId(name: string): string;
  /** @param bytes the length of the key */
  secretOf(name: string, bytes: number): string;
}

/** @throws RangeError if `now` is not a whole second */
export function createSource({ now, seed, secret }: VectorOptions): Source {
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
    secret: secret ?? secretOf('receiver', 24),
    uuid(name) {
      const hex = bytesOf(`uuid/${name}`, 16).toString('hex');
      // Version 4, variant 1.
      return hex.replace(
        /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/,
        (_, ...[a = '', b = '', c = '', d = '', e = '']: string[]) => `${a}-${b}-4${c}-8${d}-${e}`,
      );
    },
    callId: (name) => bytesOf(`call/${name}`, 12).toString('hex'),
    secretOf,
  };
}
