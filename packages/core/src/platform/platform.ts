/** A key that was prepared by one implementation; opaque to everything else. */
export interface HmacKey {
  readonly implementation: 'node:crypto' | 'WebCrypto';
}

/** What is used of a `TracingChannel` of `node:diagnostics_channel`. */
export interface TracingChannel {
  readonly hasSubscribers: boolean;
  tracePromise<T>(run: () => Promise<T>, message: object): Promise<T>;
}

/** What is used of a `Channel` of `node:diagnostics_channel`. */
export interface PlainChannel {
  readonly hasSubscribers: boolean;
  publish(message: object): void;
}

/**
 * What core needs of its runtime. The conditions of `#platform` in `package.json` choose `node.ts`, or
 * `web.ts` under `edge-light`, `workerd` and `browser`.
 */
export interface Platform {
  /** Prepares a key once, so that no delivery pays for it. */
  prepareKey(bytes: Uint8Array): HmacKey;
  /** Base64 of HMAC-SHA256 over `head` (ASCII) followed by the bytes of `body`. */
  hmacBase64(key: HmacKey, head: string, body: Uint8Array): string | Promise<string>;
  /** Compares two ASCII texts in a time that depends only on their lengths. */
  equalText(a: string, b: string): boolean;
  /** Bytes as base64, whatever their number. */
  toBase64(bytes: Uint8Array): string;
  /**
   * The bytes of a base64 text.
   * @throws TypeError or DOMException for a text that is not base64
   */
  fromBase64(text: string): Uint8Array;
  /**
   * Whether one timer may serve several requests. In Workers, a timer ends with the request that set
   * it.
   */
  readonly sharesTimers: boolean;
  /** Where this runs: an empty host and 0 if the runtime doesn't say. */
  currentProcess(): { host: string; pid: number };
  /** The same function, which runs in the async context of the import: in that of no request. */
  apartFromRequests<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void;
  /** The same function, in the async context of now wherever it is called from. */
  inThisContext(run: () => void): () => void;
  /** `undefined` where the runtime has no diagnostics channels. */
  openChannel(name: string): PlainChannel | undefined;
  openTracingChannel(name: string): TracingChannel | undefined;
}
