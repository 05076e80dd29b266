import fc from 'fast-check';

const name = fc.constantFrom(
  'call:started',
  'call:completed',
  'call:recording-available',
  'call:teleported',
  '__proto__',
  'constructor',
  '',
);

/** Similar to an event: right fields with wrong values, wrong fields, or none. */
const eventLike = fc.record(
  {
    eventName: fc.oneof({ arbitrary: name, weight: 5 }, { arbitrary: fc.jsonValue(), weight: 1 }),
    eventId: fc.oneof(fc.string(), fc.jsonValue()),
    callId: fc.oneof(fc.string(), fc.constantFrom('a', 'b', 'a:b', '__proto__'), fc.jsonValue()),
    recordingDurationSeconds: fc.oneof(fc.double(), fc.jsonValue()),
    recordingStartedAt: fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.string(),
    ),
    recordingUrl: fc.oneof(
      fc.constant('https://api.example.com/v1/calls/1/recording'),
      fc.string(),
    ),
    userId: fc.string(),
    workspaceId: fc.string(),
    occurredAt: fc.string(),
    fromPhoneNumber: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

const event = fc.record({
  eventName: fc.constantFrom('call:started', 'call:completed'),
  callId: fc.oneof(fc.uuid(), fc.constantFrom('a', 'b', 'a:b', '__proto__')),
  more: fc.jsonValue(),
});

/** Bodies that the service could sign, valid or not. */
export const payloads: fc.Arbitrary<Buffer> = fc.oneof(
  { arbitrary: eventLike.map((event) => Buffer.from(JSON.stringify(event))), weight: 4 },
  { arbitrary: event.map((good) => Buffer.from(JSON.stringify(good))), weight: 4 },
  { arbitrary: fc.json().map((json) => Buffer.from(json)), weight: 1 },
  { arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
);
