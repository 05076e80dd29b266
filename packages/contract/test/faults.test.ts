import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failure } from './failures.ts';
import { bytesOf, headersOf, vectors } from './read-vectors.ts';
import { RIGHT, simpleReceiver, type Steps } from './simple-receiver.ts';

/** The ids of the vectors that a receiver fails. */
function failedBy(steps: Steps): string[] {
  return vectors
    .filter((vector) => {
      const receive = simpleReceiver(vector.secrets, steps);
      return vector.deliveries.some((delivery, at) => {
        const request = {
          headers: headersOf(delivery),
          body: bytesOf(delivery),
          now: delivery.now,
        };
        return failure(vector, delivery, at, receive(request)) !== undefined;
      });
    })
    .map(({ id }) => id);
}

const text = (id: string, timestamp: string, body: string) =>
  Buffer.from(`${id}.${timestamp}.${body}`);

/** Faults that receivers in the wild have, and a vector that each of them fails. */
const FAULTS: [fault: string, steps: Partial<Steps>, vector: string][] = [
  [
    'parses the body and writes it again',
    {
      signed: (id, time, body) => {
        try {
          return text(id, time, JSON.stringify(JSON.parse(body.toString())));
        } catch {
          return text(id, time, body.toString());
        }
      },
    },
    'body-bytes/indented',
  ],
  [
    'decodes the body to text',
    { signed: (id, time, body) => text(id, time, body.toString()) },
    'body-bytes/invalid-utf-8',
  ],
  [
    'trims the body',
    { signed: (id, time, body) => text(id, time, body.toString().trim()) },
    'body-bytes/new-line-added',
  ],
  [
    'does not sign the webhook id',
    { signed: (_id, time, body) => text('', time, body.toString()) },
    'signature/valid',
  ],
  [
    'does not decode the secret',
    { key: (secret) => Buffer.from(secret.replace(/^whsec_/, '')) },
    'secrets/not-decoded',
  ],
  [
    'compares decoded bytes',
    { matches: (computed, header) => computed.equals(Buffer.from(header.slice(3), 'base64')) },
    'signature/other-spelling',
  ],
  [
    'ignores the version',
    { matches: (computed, header) => header.slice(3) === computed.toString('base64') },
    'signature/version-2',
  ],
  [
    'accepts a signature without a version',
    {
      matches: (computed, header) => header.replace(/^v1,/, '') === computed.toString('base64'),
    },
    'signature/no-version',
  ],
  [
    'compares a prefix of the signature',
    {
      matches: (computed, header) =>
        header.startsWith('v1,') &&
        header.length > 3 &&
        computed.toString('base64').startsWith(header.slice(3)),
    },
    'signature/first-half',
  ],
  [
    'reads the timestamp with parseInt',
    { isRecent: (time, now) => Math.abs(now - Number.parseInt(time, 10)) <= 300 },
    'clock/letters-after',
  ],
  [
    'lets NaN pass',
    { isRecent: (time, now) => !(Math.abs(now - Number(time)) > 300) },
    'clock/words',
  ],
  [
    'checks the past only',
    { isRecent: (time, now) => /^\d+$/.test(time) && now - Number(time) <= 300 },
    'clock/301-seconds-ahead',
  ],
  ['does not check the timestamp', { isRecent: () => true }, 'clock/301-seconds-ago'],
  [
    'refuses what is 5 minutes old',
    { isRecent: (time, now) => /^\d+$/.test(time) && Math.abs(now - Number(time)) < 300 },
    'clock/300-seconds-ago',
  ],
  ['forgets webhook ids', { remembersIds: false, eventKey: () => undefined }, 'replays/at-once'],
  ['acknowledges replays', { remembersIds: false }, 'replays/at-once'],
  ['remembers ids before it verifies', { remembersRefused: true }, 'replays/forged-before'],
  ['has no event keys', { eventKey: () => undefined }, 'duplicates/completed-again'],
  [
    'takes the webhook id as the key',
    { eventKey: (_event, id) => id },
    'duplicates/recording-again',
  ],
  [
    'takes a hash of the body as the key',
    { eventKey: (_event, _id, body) => createHash('sha256').update(body).digest('hex') },
    'duplicates/other-bytes',
  ],
  [
    'takes the call id as the key',
    { eventKey: ({ callId }) => (typeof callId === 'string' ? callId : undefined) },
    'duplicates/two-events',
  ],
  [
    'takes the event name as the key',
    { eventKey: ({ eventName }) => JSON.stringify(eventName) },
    'duplicates/two-calls',
  ],
  [
    'refuses unknown fields',
    { isKnown: (event) => !('fieldOfTomorrow' in event) },
    'events/completed-with-unknown-fields',
  ],
  [
    'needs a phone number',
    {
      isKnown: ({ eventName, ...event }) =>
        eventName !== 'call:started' || 'fromPhoneNumber' in event,
    },
    'events/started-without-phone-number',
  ],
];

describe('a receiver of forty lines, without any code of ours', () => {
  it('passes all vectors', () => {
    expect(failedBy(RIGHT)).toEqual([]);
  });

  it.each(FAULTS)('fails if it %s', (_fault, steps, vector) => {
    expect(failedBy({ ...RIGHT, ...steps })).toContain(vector);
  });

  it.each(RIGHT.requires)('fails if it does not require %s', (header) => {
    const requires = RIGHT.requires.filter((name) => name !== header);
    // Without the header, the rest has to let the request pass for the fault to show.
    const failed = failedBy({ ...RIGHT, requires, isRecent: () => true, matches: () => true });
    expect(failed).toContain(`headers/no-${header.replace('x-service-', '')}`);
  });
});
