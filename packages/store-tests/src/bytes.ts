/** How some bytes differ from those that are expected, in a few words: a diff of large bodies takes minutes. */
export function difference(found: Uint8Array, expected: Uint8Array): string {
  const at = expected.findIndex((byte, index) => found[index] !== byte);
  if (at === -1 && found.length === expected.length) return 'none';
  return `${found.length} bytes instead of ${expected.length}, the first other one at ${at === -1 ? expected.length : at}`;
}
