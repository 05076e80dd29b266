import type { SignedDelivery } from './delivery.ts';
import type { Piece } from './raw-socket.ts';

/** What a row is given: an honest delivery, a way to sign more of them, and where they go. */
export interface Scene {
  readonly honest: SignedDelivery;
  readonly path: string;
  readonly sign: (body?: string | Uint8Array, options?: SignOptions) => Promise<SignedDelivery>;
}

export interface SignOptions {
  webhookId?: string;
  aheadSeconds?: number;
}

/** One kind of bad input. */
export interface Row {
  readonly name: string;
  /**
   * `accepted`: it is odd, but authentic, and has to be handled. `refused`: an answer that is no
   * 2xx. `any`: nobody waits for the answer, or the framework answers for itself.
   */
  readonly expect: 'accepted' | 'refused' | 'any';
  /** The framework may answer this before the receiver sees it; the docs say how to mend that. */
  readonly framework?: true;
  /** The answers that there may be, where they depend on Node's version: the table shows them all. */
  readonly oneOf?: readonly string[];
  /** How many answers there have to be; 1 by default, and 0 where nobody listens. */
  readonly answers?: number;
  /** A server whose `headersTimeout` is this; Node's default, 60 s, would be long to wait for. */
  readonly headersTimeoutMs?: number;
  /** How many connections that say nothing are open meanwhile. */
  readonly crowd?: number;
  pieces(scene: Scene): readonly Piece[] | Promise<readonly Piece[]>;
}

/** Rows that belong together in the table. */
export interface RowGroup {
  readonly title: string;
  readonly rows: readonly Row[];
}
