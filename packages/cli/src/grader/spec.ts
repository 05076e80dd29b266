/** A sentence of the interface that a probe rests on. */
export interface SpecSentence {
  readonly section: string;
  readonly text: string;
}

const sentence = (section: string, text: string): SpecSentence => ({ section, text });

/** The sentences that bind a receiver. */
export const SPEC = {
  post: sentence(
    'Endpoints',
    'The service sends an HTTP POST to the receiver URL configured in the action.',
  ),
  headers: sentence(
    'Authentication, verification 1',
    'Require all three headers and that the signature begins with v1,.',
  ),
  timestamp: sentence(
    'Authentication, verification 2',
    "Reject if the timestamp is not a number or differs from the receiver's clock by more than 5 minutes.",
  ),
  compare: sentence(
    'Authentication, verification 3',
    'Compare the computed signature with the part after v1,.',
  ),
  replay: sentence(
    'Authentication, verification 4',
    'Remember each accepted webhook id for at least 5 minutes and reject repeats.',
  ),
  twice: sentence(
    'Authentication, verification 4',
    'Retries arrive with new ids, so processing must be safe to run twice.',
  ),
  rawBody: sentence(
    'Authentication, signature 1',
    'The signed string has the raw request body, byte for byte as received.',
  ),
  key: sentence(
    'Authentication, signature 2',
    'Key = the secret with the whsec_ prefix removed, then base64-decoded.',
  ),
  rotation: sentence(
    'Authentication, rotation',
    'After a rotation the next delivery is signed with the new secret.',
  ),
  duplicates: sentence(
    'Events, rule 2',
    'Duplicates are skipped on the pair callId and eventName.',
  ),
  recordingId: sentence('Events, rule 3', 'The call:recording-available body carries eventId.'),
  order: sentence('Events, rule 1', 'Delivery is at least once and in no particular order.'),
  fields: sentence('Resources', 'A receiver must ignore fields it does not recognize.'),
  optional: sentence(
    'Resources',
    'Required are eventName and the user who placed the call; callId is present.',
  ),
  acknowledge: sentence(
    'Errors',
    'Any 2xx within 30 seconds acknowledges the delivery; it is not sent again.',
  ),
  notFound: sentence(
    'Errors',
    '404 is read as the URL no longer existing. The rule is paused at once without retry.',
  ),
  retried: sentence(
    'Errors',
    'Any other status, no response within 30 seconds, or a connection error: retried about every 5 minutes.',
  ),
  notShown: sentence('Not shown', 'The interface does not say this, so it costs no points.'),
} as const satisfies Record<string, SpecSentence>;
