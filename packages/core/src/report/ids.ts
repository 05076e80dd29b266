import { redactedText } from './redact.ts';

const MAX_ID = 200;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const ID_WORDS = /^[A-Za-z\d_]+(?:[:-][A-Za-z\d_]+)*$/;
/** The form of tokens, and the words before secrets and phone numbers. */
const SUSPICIOUS =
  /whsec|[rs]k[_-]|gh[opsur]_|github|glpat|npm_|xox|A(?:KIA|SIA|Iza)|pass|pwd|secret|token|api|credential|signature|cookie|authorization|phone|mobile|tel|msisdn|fax|sms|whatsapp|dial|number|call(?:ed|ing)?:?\d/i;

/**
 * An id, key or event name, as log lines, hooks and spans have it: on one line, of a limited length,
 * and without what may have been made a part of it: an e-mail address, a phone number, a token.
 */
export function redactId(id: string): string {
  // The redactor would not change such an id, but takes a hundred times as long.
  if (id.length <= MAX_ID && ID_WORDS.test(id) && !SUSPICIOUS.test(id)) return id;
  return redactedText(id.slice(0, 4 * MAX_ID).replace(UNPRINTABLE, '?')).slice(0, MAX_ID);
}

/**
 * A tenant's name as log lines, hooks and spans have it: of a verified delivery as it is, and
 * otherwise as an id, since anybody can send anything.
 */
export const shownTenant = (tenant: string, webhookId: string | undefined): string =>
  webhookId === undefined ? redactId(tenant) : tenant;

/** What identifies a delivery. */
interface Ids {
  tenant?: string | undefined;
  eventName?: string | undefined;
  callId?: string | undefined;
  key?: string | undefined;
  webhookId?: string | undefined;
}

/** A copy whose ids are as `redactId` makes them. */
export function withRedactedIds<T extends Ids>(identified: T): T {
  const copy: Ids = { ...identified };
  for (const name of ['eventName', 'callId', 'key', 'webhookId'] as const) {
    const id = copy[name];
    if (id !== undefined) copy[name] = redactId(id);
  }
  if (copy.tenant !== undefined) copy.tenant = shownTenant(copy.tenant, copy.webhookId);
  return copy as T;
}
