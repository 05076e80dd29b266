import fc from 'fast-check';
import type { CallField } from '../../src/commands/infer-names.ts';

export const CALL_FIELDS = [
  'placedBy',
  'calledNumber',
  'calledEmail',
  'calledName',
  'createdAt',
  'dialedAt',
  'endedAt',
] as const satisfies readonly CallField[];

export type CallNames = Readonly<Record<CallField, string>>;

const shown = [
  'eventName',
  'callId',
  'fromPhoneNumber',
  'eventId',
  'dialer',
  'team',
  'extra',
  'more',
];

/** Any seven names, which say nothing about what they hold. */
export const callNames: fc.Arbitrary<CallNames> = fc
  .uniqueArray(fc.stringMatching(/^[a-z][A-Za-z_]{0,11}$/), { minLength: 7, maxLength: 7 })
  .filter((names) => !names.some((name) => shown.includes(name) || name in {}))
  .map(
    (names) => Object.fromEntries(CALL_FIELDS.map((field, at) => [field, names[at]])) as CallNames,
  );

const firstNames = ['Ada', 'José', 'Mary Ann', 'Zoë', 'Li', 'Владимир', "D'Arcy"];
const lastNames = ['Lovelace', 'García-Márquez', 'O’Brien', 'van den Berg', 'Øst', 'Петров'];
const fullName = fc
  .tuple(fc.constantFrom(...firstNames), fc.constantFrom(...lastNames))
  .map((names) => names.join(' '));
const email = fc
  .tuple(
    fc.stringMatching(/^[a-z][a-z0-9.+_]{0,10}$/),
    fc.constantFrom('example.com', 'mail.acme.co'),
  )
  .map(([local, domain]) => `${local}@${domain}`);
const phone = fc
  .tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1_000_000, max: 999_999_999 }))
  .chain(([country, rest]) =>
    fc.constantFrom(`+${country}${rest}`, `+${country} ${rest}`, `(0${country}) ${rest}`),
  );
const id = fc.oneof(
  fc.uuid(),
  fc.stringMatching(/^[0-9a-f]{23}[0-9]$/),
  fc.stringMatching(/^usr_[A-Za-z0-9]{5,20}[0-9]$/),
);
/** Users that only the recording event tells from the person called. */
const knownByRecording = fc.oneof(email, fullName, fc.stringMatching(/^[a-z]{3,8}$/));

const digits = (text: string): string => text.replace(/\D/g, '');

/** One call: its moments in epoch milliseconds, and who called whom. */
const call = fc
  .record({
    callId: fc.stringMatching(/^[0-9a-f]{24}$/),
    from: phone,
    calledNumber: phone,
    calledEmail: email,
    calledName: fullName,
    created: fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }),
    ringing: fc.integer({ min: 0, max: 5000 }),
    talking: fc.integer({ min: 1, max: 7_200_000 }),
    direction: fc.constantFrom('outbound', 'inbound'),
  })
  .filter(({ from, calledNumber }) => digits(from) !== digits(calledNumber));
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

function bodies(one: Call, user: string, names: CallNames): Record<string, unknown>[] {
  const dialed = one.created + one.ringing;
  const started = {
    eventName: 'call:started',
    callId: one.callId,
    [names.endedAt]: null,
    fromPhoneNumber: { label: 'Sales', e164: one.from },
    [names.createdAt]: one.created,
    [names.placedBy]: user,
    [names.calledNumber]: one.calledNumber,
    [names.calledEmail]: one.calledEmail,
    [names.calledName]: one.calledName,
    [names.dialedAt]: new Date(dialed).toISOString(),
    dialer: one.direction,
    extra: one.talking > 1000,
    more: ['https://example.com'],
  };
  const endedAt = new Date(dialed + one.talking).toISOString();
  return [started, { ...started, eventName: 'call:completed', [names.endedAt]: endedAt }];
}

function recording(one: Call, userId: string): Record<string, unknown> {
  return {
    eventName: 'call:recording-available',
    eventId: `${one.callId}:recording-available`,
    callId: one.callId,
    userId,
    workspaceId: 'workspace-1',
    recordingDurationSeconds: Math.round(one.talking / 1000),
  };
}

/** The bodies of one to four calls, in any order, under whatever names. */
export const capturedCalls: fc.Arbitrary<(names: CallNames) => unknown[]> = fc
  .tuple(
    fc.uniqueArray(call, { minLength: 1, maxLength: 4, selector: ({ callId }) => callId }),
    fc.oneof(
      id.map((user) => ({ user, recorded: false })),
      fc.oneof(id, knownByRecording).map((user) => ({ user, recorded: true })),
    ),
    fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
  )
  // Who calls themselves cannot be told apart.
  .filter(([calls, { user }]) =>
    calls.every(({ calledEmail, calledName }) => user !== calledEmail && user !== calledName),
  )
  .map(([calls, { user, recorded }, order]) => (names) => {
    const samples = calls.flatMap((one) => [
      ...bodies(one, user, names).map((body) =>
        recorded ? { ...body, team: 'workspace-1' } : body,
      ),
      ...(recorded ? [recording(one, user)] : []),
    ]);
    return samples
      .map((sample, index) => ({ sample, at: order[index] ?? 0 }))
      .sort((a, b) => a.at - b.at)
      .map(({ sample }) => sample);
  });
