import type { Sentence } from './vector.ts';

const sentence = (section: string, text: string): Sentence => ({ section, text });

/** The sentences of the interface that a request can test. */
export const SENTENCES = {
  ignoreUnknownFields: sentence(
    'Call webhook body',
    'Fields may be added later. A receiver must ignore fields it does not recognize.',
  ),
  optionalPhoneNumber: sentence(
    'Call webhook body, fromPhoneNumber, which is not required',
    'The service number the call was placed from. Its inner fields: not shown.',
  ),
  unsignedActions: sentence(
    'Receiver contract for webhook deliveries',
    'Webhook actions saved before signing was introduced have no signing secret and are sent without these `X-Service-*` headers.',
  ),
  secretFormat: sentence(
    'Authentication, Webhook deliveries',
    'The secret starts with `whsec_` followed by base64 text.',
  ),
  rotation: sentence(
    'Authentication, Webhook deliveries',
    'Rotation: after a rotation the next delivery is signed with the new secret. Until the receiver is updated, its verification fails.',
  ),
  webhookId: sentence(
    'Headers, X-Service-Webhook-Id',
    'A new UUID for every delivery attempt, including each retry. It is part of the signed content. It is not a duplicate detector.',
  ),
  timestamp: sentence(
    'Headers, X-Service-Timestamp',
    'When this attempt was signed. It is part of the signed content.',
  ),
  signedText: sentence(
    'Signature computation, 1',
    'Signed string = `<X-Service-Webhook-Id>` + `.` + `<X-Service-Timestamp>` + `.` + the raw request body, byte for byte as received (not re-serialized JSON).',
  ),
  key: sentence(
    'Signature computation, 2',
    'Key = the secret with the `whsec_` prefix removed, then base64-decoded.',
  ),
  hmac: sentence(
    'Signature computation, 3',
    'Signature = base64 of HMAC-SHA256 of the signed string with that key.',
  ),
  requireHeaders: sentence(
    'Verification by the receiver, 1',
    'Require all three headers and that the signature begins with `v1,`.',
  ),
  checkTimestamp: sentence(
    'Verification by the receiver, 2',
    "Reject if the timestamp is not a number or differs from the receiver's clock by more than 5 minutes.",
  ),
  compare: sentence(
    'Verification by the receiver, 3',
    'Compare the computed signature with the part after `v1,` using a constant-time comparison.',
  ),
  rejectReplays: sentence(
    'Verification by the receiver, 4',
    'To reject replays, remember each accepted webhook id for at least 5 minutes and reject repeats.',
  ),
  safeTwice: sentence(
    'Verification by the receiver, 4',
    'Retries arrive with new ids, so processing must be safe to run twice.',
  ),
  anyOrder: sentence(
    'Webhook events, rule 1',
    'Delivery is at least once and in no particular order. For a recorded call, `call:recording-available` often arrives before `call:completed`.',
  ),
  duplicatePair: sentence(
    'Webhook events, rule 2',
    'The `call:started` and `call:completed` bodies have no event id. Duplicates are skipped on the pair `callId` and `eventName`.',
  ),
  eventId: sentence(
    'Webhook events, rule 3',
    'The `call:recording-available` body carries `eventId`.',
  ),
  idIsNoKey: sentence(
    'Webhook events, rule 4',
    '`X-Service-Webhook-Id` changes on every attempt and is not used for duplicate detection of events.',
  ),
  sameForAll: sentence(
    'Webhook events, rule 5',
    'Deliveries are signed, retried and paused the same way for all three events.',
  ),
  acknowledge: sentence(
    'Errors, Any 2xx within 30 seconds',
    'Delivery acknowledged. Body ignored.',
  ),
  tolerance: sentence(
    'Limits, Timestamp tolerance',
    "5 minutes either side of the receiver's clock",
  ),
  growingBodies: sentence(
    'Versioning',
    'Bodies may gain fields over time; receivers ignore unknown fields.',
  ),
} as const satisfies Record<string, Sentence>;
