/** A sentence of the interface that a probe rests on. */
export interface SpecSentence {
  readonly section: string;
  readonly text: string;
}

const sentence = (section: string, text: string): SpecSentence => ({ section, text });

/** The sentences that bind a receiver, in the words of the interface. */
export const SPEC = {
  post: sentence(
    'Endpoints',
    'The service sends an HTTP POST to the receiver URL configured in the action.',
  ),
  headers: sentence(
    'Authentication, verification 1',
    'Require all three headers and that the signature begins with `v1,`.',
  ),
  timestamp: sentence(
    'Authentication, verification 2',
    "Reject if the timestamp is not a number or differs from the receiver's clock by more than 5 minutes.",
  ),
  compare: sentence(
    'Authentication, verification 3',
    'Compare the computed signature with the part after `v1,` using a constant-time comparison.',
  ),
  replay: sentence(
    'Authentication, verification 4',
    'To reject replays, remember each accepted webhook id for at least 5 minutes and reject repeats.',
  ),
  twice: sentence(
    'Authentication, verification 4',
    'Retries arrive with new ids, so processing must be safe to run twice.',
  ),
  rawBody: sentence(
    'Authentication, signature 1',
    'Signed string = `<X-Service-Webhook-Id>` + `.` + `<X-Service-Timestamp>` + `.` + the raw request body, byte for byte as received (not re-serialized JSON).',
  ),
  key: sentence(
    'Authentication, signature 2',
    'Key = the secret with the `whsec_` prefix removed, then base64-decoded.',
  ),
  rotation: sentence(
    'Authentication, rotation',
    'Rotation: after a rotation the next delivery is signed with the new secret.',
  ),
  duplicates: sentence(
    'Events, rule 2',
    'Duplicates are skipped on the pair `callId` and `eventName`.',
  ),
  recordingId: sentence('Events, rule 3', 'The `call:recording-available` body carries `eventId`.'),
  order: sentence('Events, rule 1', 'Delivery is at least once and in no particular order.'),
  fields: sentence('Resources', 'A receiver must ignore fields it does not recognize.'),
  optional: sentence(
    'Resources, Call webhook body',
    'Unlike `call:recording-available`, this body includes the number that was called and, when known, the name and email address of the person called.',
  ),
  acknowledge: sentence(
    'Errors, Any 2xx within 30 seconds',
    'Delivery acknowledged. Body ignored.',
  ),
  notFound: sentence(
    'Errors, 404',
    'Read as the URL no longer existing. The rule is paused at once without retry, and its owner is emailed (workspace admins for a workspace rule).',
  ),
  retried: sentence(
    'Errors, Any other status, no response within 30 seconds, or a connection error',
    'Retried about every 5 minutes, a limited number of times. The rule is paused if the last attempt fails.',
  ),
  notShown: sentence('Not shown', 'The interface does not say this, so it costs no points.'),
} as const satisfies Record<string, SpecSentence>;
