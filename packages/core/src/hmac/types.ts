/** A key that was prepared by one implementation; opaque to everything else. */
export interface HmacKey {
  readonly implementation: 'node:crypto' | 'WebCrypto';
}

/**
 * What this package needs of a crypto library. The conditions of `#hmac` in `package.json` choose
 * `node-crypto.ts`, or `web-crypto.ts` under `edge-light`, `workerd` and `browser`.
 */
export interface Hmac {
  /**
   * Whether one timer may serve several requests. In Workers, which use WebCrypto here, a timer ends
   * with the request that set it.
   */
  readonly sharesTimers: boolean;
  /** Prepares a key once, so that no delivery pays for it. */
  prepareKey(bytes: Uint8Array): HmacKey;
  /** Base64 of HMAC-SHA256 over `head` (ASCII) followed by the bytes of `body`. */
  hmacBase64(key: HmacKey, head: string, body: Uint8Array): string | Promise<string>;
  /** Compares two ASCII texts in a time that depends only on their lengths. */
  equalText(a: string, b: string): boolean;
}
