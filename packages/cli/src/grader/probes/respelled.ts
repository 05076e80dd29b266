const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The same bytes in another spelling of base64: a bit that is not used is set. */
export function respelled(signature: string): string {
  const at = signature.length - 2;
  const last = BASE64.indexOf(signature.charAt(at));
  return `${signature.slice(0, at)}${BASE64.charAt(last ^ 1)}=`;
}
