/**
 * The version of the format of the vectors. It is raised if a program that reads the old format would
 * fail.
 */
export const VECTORS_VERSION = 1;

/**
 * What a receiver has to do with one delivery:
 *
 * - `accept`: the delivery is authentic and new; process it and acknowledge it
 * - `reject`: the delivery is not authentic; neither process nor acknowledge it
 * - `duplicate`: the delivery is authentic, but its event was processed before; acknowledge it without
 *   processing it
 * - `replay`: its webhook id was accepted before; neither process nor acknowledge it
 */
export type VectorResult = 'accept' | 'reject' | 'duplicate' | 'replay';

/** The correct result of one delivery. */
export interface Expectation {
  /** What the receiver has to do with the delivery. */
  readonly result: VectorResult;
  /**
   * The correct HTTP statuses, as ranges that include both ends. They never include 404, 410 and 3xx.
   */
  readonly statuses: readonly (readonly [from: number, to: number])[];
  /** The number of times that the delivery is processed. */
  readonly effects: 0 | 1;
}

/** One request, and its correct result. */
export interface VectorDelivery {
  /** The time of the receiver's clock when the request arrives, in milliseconds since the epoch. */
  readonly now: number;
  readonly method: 'POST';
  /** The request headers, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The bytes of the body as base64. `text` is present as well if they are valid UTF-8. */
  readonly body: { readonly base64: string; readonly text?: string };
  /** The correct result of this request. */
  readonly expect: Expectation;
}

/** A sentence of the interface. */
export interface Sentence {
  /** The section and the number of the sentence, such as `Verification by the receiver, 2`. */
  readonly section: string;
  readonly text: string;
}

/** One test: deliveries that a new receiver gets one after the other. */
export interface Vector {
  /**
   * The id of the vector, such as `clock/301-seconds-ago`. It stays the same when vectors are added.
   */
  readonly id: string;
  readonly description: string;
  /** The sentences of the interface that the vector follows from. */
  readonly why: readonly Sentence[];
  /** The signing secrets that the receiver has. */
  readonly secrets: readonly string[];
  /**
   * Whether a few seconds decide about the result. Such a vector needs a receiver whose clock is set to
   * `now`. All other vectors hold for any clock that differs from `now` by less than a minute.
   */
  readonly exactClock?: boolean;
  /** The requests, in order. */
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
