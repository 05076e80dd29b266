/**
 * Stands in for `next/server.js` in unit tests, where Next is not installed. As Next's own, `after`
 * throws outside of Next; next-apps.nightly.test.ts has the real one.
 */
export function after(): never {
  throw new Error('`after` was called outside a request scope.');
}
