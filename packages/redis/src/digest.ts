/** A digest of a text, in hexadecimal; WebCrypto, so that the package runs on edge runtimes as well. */
export async function digest(algorithm: 'SHA-1' | 'SHA-256', text: string): Promise<string> {
  const bytes = await crypto.subtle.digest(algorithm, new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
