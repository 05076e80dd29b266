/** The version of the format of the vectors. It grows when a reader of the old format would fail. */
export const VECTORS_VERSION = 1;

/**
 * What a receiver has to make of one delivery:
 *
 * - `accept`: authentic and new. It is processed and acknowledged.
 * - `reject`: not authentic. It is neither processed nor acknowledged.
 * - `duplicate`: authentic, but its event was processed before. It is acknowledged and not processed.
 * - `replay`: its webhook id was accepted before. It is neither processed nor acknowledged.
 */
export type VectorResult = 'accept' | 'reject' | 'duplicate' | 'replay';

/** What is right for one delivery. */
export interface Expectation {
  readonly result: VectorResult;
  /** The statuses that are right, as ranges with both ends included. Never 404, 410 or 3xx. */
  readonly statuses: readonly (readonly [from: number, to: number])[];
  /** How often the delivery is processed. */
  readonly effects: 0 | 1;
}

/** One request, and what is right for it. */
export interface VectorDelivery {
  /** The receiver's clock when the request arrives; milliseconds since the epoch. */
  readonly now: number;
  readonly method: 'POST';
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The bytes of the body. `text` is there as well if they are UTF-8. */
  readonly body: { readonly base64: string; readonly text?: string };
  readonly expect: Expectation;
}

/** A sentence of the interface. */
export interface Sentence {
  /** Where it is: `Verification by the receiver, 2`. */
  readonly section: string;
  readonly text: string;
}

/** One test: deliveries that a new receiver gets one after the other. */
export interface Vector {
  /** `clock/301-seconds-ago`. It stays the same when the vectors grow. */
  readonly id: string;
  readonly description: string;
  /** The sentences of the interface that it follows from. */
  readonly why: readonly Sentence[];
  /** The signing secrets that the receiver knows. */
  readonly secrets: readonly string[];
  /**
   * Whether a few seconds decide. Such a vector needs a receiver whose clock is set to `now`. The
   * others hold for any clock that differs from `now` by less than a minute.
   */
  readonly exactClock?: boolean;
  readonly deliveries: readonly VectorDelivery[];
}

/** One file of vectors. */
export interface VectorFile {
  readonly version: typeof VECTORS_VERSION;
  /** The name of the file, without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly license: 'MIT';
  readonly vectors: readonly Vector[];
}
