/** The three headers of a delivery. */
export const HEADERS = [
  {
    name: 'X-Service-Webhook-Id',
    component: 'WebhookId',
    description:
      'A new UUID for every attempt, including retries. Part of the signed content. It identifies replays, not duplicate events.',
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'X-Service-Timestamp',
    component: 'Timestamp',
    description: 'When this attempt was signed, in Unix seconds. Part of the signed content.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  {
    name: 'X-Service-Signature',
    component: 'Signature',
    description:
      '`v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<raw body>`. The key is the secret without `whsec_`, base64-decoded.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=$' },
  },
] as const;

/** The version of OpenAPI and AsyncAPI documents: it changes with the interface, not with releases. */
export const CONTRACT_VERSION = '1.0.0';

export const LICENSE = { name: 'MIT', url: 'https://opensource.org/license/mit' } as const;

/** What applies to all deliveries. */
export const DELIVERY = [
  'Delivery is at least once and in no particular order.',
  'To verify a delivery, require all three headers, refuse a timestamp that differs from the clock by more than 5 minutes, compare the signature in constant time, and reject a webhook id that was accepted before, for at least 5 minutes.',
  'Duplicates of an event have the same `callId` and `eventName`.',
].join(' ');
