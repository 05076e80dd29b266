import { expect, it } from '@jest/globals';
import { maskedBody } from '../../src/index.ts';

const masked = (body: unknown): unknown =>
  JSON.parse(maskedBody(new TextEncoder().encode(JSON.stringify(body))) ?? 'null');

it('ids, times, states and booleans of a call are shown, and all else by its kind', () => {
  const call = {
    eventName: 'call:completed',
    callId: 'call-17',
    userId: 'user-1',
    createdAt: 1_767_323_045_678,
    endedAt: '2026-01-02T03:04:05.678Z',
    status: 'no-answer',
    recordingDurationSeconds: 61,
    isTest: false,
    note: null,
    title: '',
  };
  expect(masked(call)).toEqual(call);
  expect(
    masked({
      toPhoneNumber: '+15550104477',
      recipientEmail: 'ada@example.com',
      recipientName: 'Ada Lovelace',
      recordingUrl: 'https://api.example.com/v1/calls/c1/recording?token=abc',
      fromPhoneNumber: { label: 'Ada’s line', number: 15_550_104_477 },
      bookedFor: '2026-01-02T03:04:05Z',
      tags: ['Ada', 7, true],
    }),
  ).toEqual({
    toPhoneNumber: '••• digits',
    recipientEmail: '••• email address',
    recipientName: '••• text',
    recordingUrl: '••• URL',
    fromPhoneNumber: { label: '••• text', number: '••• number' },
    bookedFor: '••• time',
    tags: ['••• text', '••• number', true],
  });
});

it.each([
  [
    'a field that only ends like an id',
    { customerId: 'Ada', passportId: 'X123', patient_id: 'A1' },
  ],
  ['a person in a field of an id', { userId: 'Ada Lovelace', callId: 'ada@example.com' }],
  ['a number in a field of an id', { userId: '15550104477', eventId: '+1 555 010 4477' }],
  ['a person in a field of a time', { endedAt: 'Ada', createdAt: 15_550_104_477 }],
  ['a person in a field of a state', { status: 'Ada Lovelace', state: 'A1' }],
  ['a person after a state', { status: 'ended by Ada', direction: 'to_Ada', state: 'busy\nAda' }],
  ['a person after an id or a time', { callId: 'c1 Ada', endedAt: '2026-01-02T03:04:05Z Ada' }],
  ['a person before an id or a time', { callId: 'Ada c1', endedAt: 'Ada 2026-01-02T03:04:05Z' }],
  ['a number in a field of a time', { createdAt: 4_915_550_104_477, dialedAt: 155_501 }],
  ['an object in a field of an id', { callId: { name: 'Ada' } }],
  ['a list in a field of a state', { status: ['ada'] }],
  ['a name as a key', { 'Ada Lovelace': true, Ada: { x: 'ada' } }],
])('%s is masked', (_what, body) => {
  const text = JSON.stringify(masked(body));
  expect(text).toContain('•••');
  expect(text).not.toMatch(/Ada|"ada"|ada@|1555|5550104|555 010|X123|A1/);
});

it.each(['+1 555 010 4477', '555-010-4477', '(555) 0104477', '555.010.4477', '5550104'])(
  'a phone number that is written as %s is shown as digits, wherever it stands',
  (phone) => {
    expect(masked({ phone, callId: phone, status: phone, endedAt: phone })).toEqual({
      ...{ phone: '••• digits', callId: '••• digits' },
      ...{ status: '••• digits', endedAt: '••• digits' },
    });
  },
);

it('keys that are masked stay apart, and none reaches a prototype', () => {
  expect(masked({ 'Ada L.': 1, 'Bob M.': 2 })).toEqual({
    '••• 1': '••• number',
    '••• 2': '••• number',
  });
  const made = maskedBody(new TextEncoder().encode('{"__proto__":{"callId":"c1"}}'));
  expect(made).toBe('{"__proto__":{"callId":"c1"}}');
});

it('a body that is no JSON is not shown, and a deep one is cut', () => {
  expect(maskedBody(new TextEncoder().encode('Ada Lovelace'))).toBeUndefined();
  const deep = `${'['.repeat(5_000)}"Ada"${']'.repeat(5_000)}`;
  expect(maskedBody(new TextEncoder().encode(deep))).not.toContain('Ada');
});

it.each([
  [50, '••• number'],
  [51, '•••'],
])('a value that is nested %d deep is shown as %s', (depth, shown) => {
  const nested = `${'['.repeat(depth)}7${']'.repeat(depth)}`;
  const whole = `${'['.repeat(depth)}"${shown}"${']'.repeat(depth)}`;
  expect(maskedBody(new TextEncoder().encode(nested))).toBe(whole);
});
