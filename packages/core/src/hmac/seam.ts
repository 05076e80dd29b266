/** A key made ready for one implementation; opaque to everybody else. */
export interface HmacKey {
  readonly implementation: 'node:crypto' | 'WebCrypto';
}

/**
 * The seam between this package and a crypto library. The conditions of the package's export `./hmac` pick
 * `node-crypto.ts`, or `web-crypto.ts` under the conditions edge-light, workerd and browser.
 */
export interface Hmac {
  /**
   * Whether one timer may serve several requests. In Workers, which have the WebCrypto file, a timer
   * ends with the request that set it.
   */
  readonly sharesTimers: boolean;
  /** Prepares a key once, so that a delivery costs no key set-up. */
  prepareKey(bytes: Uint8Array): HmacKey;
  /** Base64 of HMAC-SHA256 over `head` (ASCII) followed by the bytes of `body`. */
  hmacBase64(key: HmacKey, head: string, body: Uint8Array): string | Promise<string>;
  /** Compares two ASCII texts in a time that depends on their lengths only. */
  equalText(a: string, b: string): boolean;
}
