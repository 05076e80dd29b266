// Each of these is raised while the name is looked up or the connection is made.
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]);
// These may also hit a connection that is in use: they count only when `connect` raised them.
const beforeSendingInConnect = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

function isBeforeSending(error: object): boolean {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return false;
  if (beforeSending.has(code)) return true;
  return beforeSendingInConnect.has(code) && Reflect.get(error, 'syscall') === 'connect';
}

/**
 * Whether an error of `fetch` proves that nothing of the request was sent. Where several addresses
 * were tried, each of them must have failed that way. An unknown error proves nothing.
 */
export function provesNothingSent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  const errors: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((one) => provesNothingSent(one, depth + 1));
  }
  return isBeforeSending(error) || provesNothingSent(Reflect.get(error, 'cause'), depth + 1);
}
