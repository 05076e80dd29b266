import { compileFunction } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import { anyCharacter } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import { inferNames } from '../src/commands/infer-names.ts';
import { callNames, type CallNames, capturedCalls } from './support/captured-calls.ts';
import { base, inferred } from './support/inferred.ts';

const runs = { numRuns: Number(process.env['RUNS'] ?? 100), seed: 20_261_122 };

/** Adds a field to the bodies of call events. */
function withField(
  samples: readonly unknown[],
  name: string,
  value: (body: Record<string, unknown>) => unknown,
): unknown[] {
  return (samples as Record<string, unknown>[]).map((body) =>
    body['eventName'] === 'call:recording-available' ? body : { ...body, [name]: value(body) },
  );
}

describe('the seven fields', () => {
  test('all seven are found in any set of bodies with names that say nothing', () => {
    fc.assert(
      fc.property(callNames, capturedCalls, (names, calls) => {
        expect(inferred(calls(names))).toEqual(names);
      }),
      runs,
    );
  });

  test.each<[what: string, value: unknown, isTime: boolean]>([
    ['the last millisecond before 2001-09-09', 999_999_999_999, false],
    ['the first one of it', 1_000_000_000_000, true],
    ['a time of today', Date.UTC(2026, 0, 2), true],
    ['the last one of 2103', 4_199_999_999_999, true],
    ['the first one after it', 4_200_000_000_000, false],
    ['seconds', Date.UTC(2026, 0, 2) / 1_000, false],
    ['half a millisecond', Date.UTC(2026, 0, 2) + 0.5, false],
    ['text', String(Date.UTC(2026, 0, 2)), false],
    ['nothing', null, false],
  ])('a field with %s: whether it may be createdAt', (_what, value, isTime) => {
    const { fieldNames } = inferNames([{ eventName: 'call:started', callId: 'c1', when: value }]);
    const found = fieldNames.find(({ setting }) => setting === 'createdAt');
    expect(found?.candidates.map(({ name }) => name)).toEqual(isTime ? ['when'] : []);
  });

  test.each<[what: string, value: string, isUser: boolean]>([
    ['an id', 'u-1', true],
    ['an address', 'ada@example.com', true],
    ['digits', '12025550100', true],
    ['200 characters', 'u1'.repeat(100), true],
    ['201 characters', `${'u1'.repeat(100)}1`, false],
    ['a date and time', '2026-01-02T03:04:05Z', false],
    ['a number that is written as one', '+1 202 555 0100', false],
    ['a URL', 'https://example.com/u1', false],
    ['a status', 'outbound', false],
  ])('a field with %s in every event: whether it may name the user', (_what, value, isUser) => {
    const { fieldNames } = inferNames([{ eventName: 'call:started', callId: 'c1', who: value }]);
    const found = fieldNames.find(({ setting }) => setting === 'placedBy');
    expect(found?.candidates.map(({ name }) => name)).toEqual(isUser ? ['who'] : []);
  });

  test('two fields that fit alike are both named, and neither is chosen', () => {
    const twins: [keyof CallNames, (value: string | number | null) => unknown][] = [
      ['calledNumber', (value) => `${String(value)}0`],
      ['calledEmail', (value) => `x${String(value)}`],
      ['calledName', (value) => `${String(value)} Esq.`],
      ['createdAt', (value) => Number(value) + 1],
      ['dialedAt', (value) => new Date(Date.parse(String(value)) + 1).toISOString()],
      [
        'endedAt',
        (value) => (value === null ? null : new Date(Date.parse(String(value)) + 1).toISOString()),
      ],
    ];
    fc.assert(
      fc.property(callNames, capturedCalls, fc.constantFrom(...twins), (names, calls, twin) => {
        const [field, alter] = twin;
        const samples = withField(calls(names), 'twin', (body) =>
          alter(body[names[field]] as string),
        );
        expect(inferred(samples)[field]).toEqual([names[field], 'twin'].sort());
      }),
      runs,
    );
  });

  test('never throws, whatever it is given, and never proposes one field twice', () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 8 });
    const event = fc.constantFrom('call:started', 'call:completed', 'call:recording-available');
    const sample = fc.oneof(
      fc.jsonValue(),
      fc.tuple(body, event).map(([fields, eventName]) => ({ ...fields, eventName })),
    );
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 6 }), (samples) => {
        const names = inferNames(samples)
          .fieldNames.filter(({ status }) => status === 'found')
          .map(({ candidates: [candidate] }) => candidate?.name);
        expect(new Set(names).size).toBe(names.length);
      }),
      runs,
    );
  });
});

describe('the reasons', () => {
  test.each([
    ['one completed call is enough', [base], {}],
    [
      'another telephone number may be the number called as well',
      [{ ...base, h: '+14155550100' }],
      { calledNumber: ['b', 'h'] },
    ],
    [
      'an id that stands beside the user makes it unsure',
      [{ ...base, h: 'session-42' }],
      { placedBy: ['a', 'h'] },
    ],
    [
      'unless the recording event names the user',
      [
        { ...base, h: 'session-42' },
        { eventName: 'call:recording-available', callId: 'c1', userId: base.a },
      ],
      { placedBy: 'a' },
    ],
    [
      'or names the other as its workspace',
      [
        { ...base, h: 'w1' },
        { eventName: 'call:recording-available', callId: 'c1', workspaceId: 'w1' },
      ],
      { placedBy: 'a' },
    ],
    [
      'what names the user of one call, and not that of another, is not the user',
      [
        { ...base, h: 'x1' },
        { ...base, callId: 'c2', a: 'u2', h: 'u2' },
        { eventName: 'call:recording-available', callId: 'c1', userId: base.a },
        { eventName: 'call:recording-available', callId: 'c2', userId: 'u2' },
      ],
      { placedBy: 'a' },
    ],
    ['a status is no user and no name', [{ ...base, h: 'no answer', i: 'ANSWERED' }], {}],
    ['what is not in every event is not the user', [base, { ...base, callId: 'c2', h: 'x1' }], {}],
    [
      'a time that differs between the events of one call is not that of the call',
      [
        { ...base, sent: base.e + 5 },
        { ...base, eventName: 'call:started', g: undefined, sent: base.e },
      ],
      { createdAt: 'e' },
    ],
    [
      'a second address may be of the person called or of the user',
      [{ ...base, h: 'agent@example.com' }],
      { placedBy: ['a', 'c', 'h'], calledEmail: ['c', 'h'] },
    ],
    [
      'no person known',
      [{ ...base, c: null, d: '' }],
      { calledEmail: undefined, calledName: undefined },
    ],
    [
      'a single word may be anything',
      [{ ...base, d: 'Ann' }],
      { placedBy: ['a', 'd'], calledName: undefined },
    ],
    [
      'one date of call:completed alone may be either',
      [{ ...base, f: undefined }],
      { dialedAt: ['g'], endedAt: ['g'] },
    ],
    [
      'with a call:started that lacks it, it is the end',
      [
        { ...base, f: undefined },
        { ...base, eventName: 'call:started', f: undefined, g: undefined },
      ],
      { dialedAt: undefined },
    ],
    [
      'two equal dates have no order',
      [{ ...base, g: base.f }],
      { dialedAt: ['f', 'g'], endedAt: ['f', 'g'] },
    ],
    [
      'dates whose order differs between calls have none',
      [base, { ...base, callId: 'c2', f: base.g, g: base.f }],
      { dialedAt: ['f', 'g'], endedAt: ['f', 'g'] },
    ],
    [
      'dates that are equal once, and in order once, have one',
      [base, { ...base, callId: 'c2', g: base.f }],
      {},
    ],
    [
      'a number has seven digits or more',
      [{ ...base, b: '+123456' }],
      { calledNumber: undefined, placedBy: ['a', 'b'] },
    ],
    [
      'and fifteen or fewer',
      [{ ...base, b: '+1234567890123456' }],
      { calledNumber: undefined, placedBy: ['a', 'b'] },
    ],
    ['seven are enough', [{ ...base, b: '+12 345-67' }], {}],
    ['fifteen are not too many', [{ ...base, b: '+123456789012345' }], {}],
    ['digits alone are a number where nothing else is', [{ ...base, b: '4930123456' }], {}],
  ])('%s', (_, samples, differs) => {
    const usual = {
      placedBy: 'a',
      calledNumber: 'b',
      calledEmail: 'c',
      calledName: 'd',
      createdAt: 'e',
      dialedAt: 'f',
      endedAt: 'g',
    };
    expect(inferred(samples)).toEqual({ ...usual, ...differs });
  });

  test('no value of a body is repeated', () => {
    const result = JSON.stringify(inferNames([base]));
    for (const value of Object.values(base).slice(1))
      if (typeof value === 'string') expect(result).not.toContain(value);
  });
});

describe('call records', () => {
  const { eventName: _, callId, ...record } = base;
  const calls = [{ _id: callId, ...record }];
  const events = [{ _id: 'e1', action: 'opened' }];

  test.each<[string, unknown, number]>([
    ['alone', calls[0], 1],
    ['in a page', { results: calls, next: 'x' }, 1],
    ['in a page of another shape', { data: { calls }, paging: { next: 'x' } }, 1],
    ['in a bare list', calls, 1],
    ['of none', { results: [] }, 0],
    ['but activity events are none', { results: events }, 0],
  ])('%s', (_name, sample, callRecords) => {
    const { read, fieldNames } = inferNames([sample]);
    expect(read).toEqual({
      callEvents: 0,
      recordingEvents: 0,
      callRecords,
      ignored: 1 - callRecords,
    });
    if (callRecords > 0) expect(fieldNames.every(({ status }) => status === 'found')).toBe(true);
  });

  test('say nothing where there are call events', () => {
    expect(
      inferNames([...calls, { ...base, a: undefined, z: base.a }]).fieldNames[0],
    ).toMatchObject({ setting: 'placedBy', candidates: [{ name: 'z' }] });
  });
});

interface Options {
  readonly fieldNames: Readonly<Record<string, string>>;
}

describe('the snippet', () => {
  test('has the names that were found, and the doubts as comments', () => {
    const recording = { eventName: 'call:recording-available', callId: 'c1', userId: base.a };
    expect(inferNames([{ ...base, h: 'Bo Ek' }, recording]).snippet).toBe(
      `fieldNames: {
  placedBy: 'a', // equals userId of the recording event of its call
  calledNumber: 'b', // telephone numbers
  calledEmail: 'c', // email addresses
  // calledName, not sure: 'd' (full names) or 'h' (full names)
  createdAt: 'e', // epoch milliseconds, the same in every event of a call
  dialedAt: 'f', // a date and time, never after "g"
  endedAt: 'g', // a date and time, never before "f"
},`,
    );
  });

  test('is one line for each field, also for names with what ends a line', () => {
    const odd = "h\u2028\u0085'\n";
    const { snippet } = inferNames([{ ...base, [odd]: '+14155550100' }]);
    const escaped = "'h\\u2028\\u0085\\'\\n'";
    expect(snippet.split('\n')[2]).toBe(
      `  // calledNumber, not sure: 'b' (telephone numbers) or ${escaped} (telephone numbers)`,
    );
    expect(snippet).not.toMatch(/[\u2028\u0085]/);
  });

  test('stays a snippet whatever the names are', () => {
    const name = fc.string({ unit: anyCharacter, minLength: 1 });
    fc.assert(
      fc.property(name, (b) => {
        fc.pre(!(b in base));
        const { snippet } = inferNames([{ ...base, b: undefined, [b]: base.b }]);
        const read = compileFunction(`return {${snippet}}`) as unknown as () => Options;
        const options = read();
        expect(options.fieldNames['calledNumber']).toBe(b);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 100), seed: 20_261_122 },
    );
  });

  test('unsets what a found name is the default of, which a receiver would refuse', () => {
    const call = { eventName: 'call:completed', userId: 'u-1' };
    const named = { ...call, callId: 'c1', recipientEmail: 'Ada Lovelace' };
    const { snippet } = inferNames([named, { ...call, callId: 'c2' }]);
    expect(snippet).toBe(
      `fieldNames: {
  placedBy: 'userId', // a string that could identify a user, in every event
  calledEmail: undefined, // its default name, 'recipientEmail', is that of calledName
  calledName: 'recipientEmail', // full names
},`,
    );
    const read = compileFunction(`return {${snippet}}`) as unknown as () => Options;
    expect(() => createReceiver({ secret: generateSecret(), ...read() })).not.toThrow();
  });

  test('nothing captured, nothing proposed', () => {
    expect(inferNames([7, null, {}, { eventName: 'x' }])).toMatchObject({
      snippet: '',
      read: { callEvents: 0, recordingEvents: 0, callRecords: 0, ignored: 4 },
    });
  });
});
