/** Bytes as base64, in every runtime, whatever their number. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8_192)
    binary += String.fromCharCode(...bytes.subarray(i, i + 8_192));
  return btoa(binary);
}

/** The bytes of a base64 text. Throws a `DOMException` when it is none. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
