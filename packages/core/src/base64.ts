/** Bytes as base64, in every runtime and for any length. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8_192)
    binary += String.fromCharCode(...bytes.subarray(i, i + 8_192));
  return btoa(binary);
}

/**
 * The bytes of a base64 text.
 * @throws DOMException when the text is not base64
 */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
