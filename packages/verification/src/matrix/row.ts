import type { SignedDelivery } from './delivery.ts';
import type { SocketStep } from './raw-socket.ts';

/** What a row can use: a valid delivery, a way to sign more, and the path of the receiver. */
export interface RowContext {
  readonly valid: SignedDelivery;
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
   * `accepted`: unusual but authentic, so it has to be handled. `refused`: any response but 2xx.
   * `any`: nobody waits for the response, or the framework sends its own.
   */
  readonly expect: 'accepted' | 'refused' | 'any';
  /** The framework may respond before the receiver sees the request; the docs say what to do about it. */
  readonly framework?: true;
  /** The possible responses, where they depend on the version of Node. The table shows them all. */
  readonly oneOf?: readonly string[];
  /** How many responses are expected; 1 by default, 0 where nobody waits for one. */
  readonly responses?: number;
  /** The server's `headersTimeout`, where Node's default of 60 s would take too long. */
  readonly headersTimeoutMs?: number;
  /** How many silent connections are open meanwhile. */
  readonly idleConnections?: number;
  steps(context: RowContext): readonly SocketStep[] | Promise<readonly SocketStep[]>;
}

/** Rows that belong together in the table. */
export interface RowGroup {
  readonly title: string;
  readonly rows: readonly Row[];
}
