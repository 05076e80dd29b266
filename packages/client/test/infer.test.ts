import { compileFunction } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import fc from 'fast-check';
import { inferNames } from '../src/infer/index.ts';
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
      'the service number is not the number called',
      [{ ...base, h: '+14155550100' }],
      { calledNumber: 'b' },
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
      'what stays the same for three numbers is not of the person called',
      ['1', '2', '3'].map((n) => ({
        ...base,
        callId: n,
        b: `${base.b}${n}`,
        c: `ann${n}@example.com`,
        d: `Ann Lee ${'i'.repeat(Number(n))}`,
        h: 'agent@example.com',
      })),
      // The agent's address may be the user, as well as the id.
      { placedBy: ['a', 'h'] },
    ],
    [
      'no person known',
      [{ ...base, c: null, d: '' }],
      { calledEmail: undefined, calledName: undefined },
    ],
    ['a single word may be a name', [{ ...base, d: 'Ann' }], { calledName: ['d'] }],
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

describe('lists', () => {
  function wire(...pages: unknown[]): Record<string, unknown> {
    return Object.fromEntries(
      inferNames(pages)
        .wire.filter(({ status }) => status !== 'not-seen')
        .map(({ setting, status, candidates }) => {
          const names = candidates.map(({ name }) => name);
          return [setting, status === 'found' ? names[0] : names];
        }),
    );
  }
  const calls = [{ _id: 'c1' }, { _id: 'c2' }];

  test.each<[string, unknown[], Record<string, unknown>]>([
    [
      'a cursor deeper down',
      [{ data: calls, paging: { next: 'x', more: true } }],
      { callsField: 'data', nextField: 'paging.next', hasNextField: 'paging.more' },
    ],
    [
      'a cursor in an object',
      [{ results: calls, next: { cursor: 'x' } }],
      { callsField: 'results', nextField: 'next.cursor' },
    ],
    [
      'a name that says nothing, over two pages',
      [
        { items: calls, after: 'x', page: 1, onward: true },
        { items: calls, after: null, page: 2, onward: false },
      ],
      { callsField: 'items', nextField: 'after', hasNextField: 'onward' },
    ],
    [
      'a URL',
      [{ results: calls, next: 'https://api.example.com/v1/calls?cursor=x&limit=2' }],
      { callsField: 'results', nextField: 'next', nextParam: 'cursor', limitParam: 'limit' },
    ],
    ['two lists of records', [{ a: calls, b: calls }], { callsField: ['a', 'b'] }],
    [
      'one of which has a call that was captured',
      [
        { a: calls, b: [{ _id: 'c9' }] },
        { ...base, callId: 'c9' },
      ],
      { callsField: 'b' },
    ],
    [
      'two cursors',
      [{ results: calls, nextId: 'x', nextPage: 2 }],
      { callsField: 'results', nextField: ['nextId', 'nextPage'] },
    ],
    [
      'activity events',
      [{ results: [{ _id: '1', action: 'opened' }], next: 'x' }],
      { nextField: 'next' },
    ],
    ['no cursor', [{ results: calls, total: 2 }], { callsField: 'results' }],
  ])('%s', (_, pages, expected) => {
    expect(wire(...pages)).toEqual(expected);
  });
});

interface Options {
  readonly fieldNames: Readonly<Record<string, string>>;
}

describe('the snippet', () => {
  test('has the names that were found, and the doubts as comments', () => {
    const recording = { eventName: 'call:recording-available', callId: 'c1', userId: base.a };
    const calls = { calls: [{ _id: 'c1' }], nextCursor: 'x' };
    expect(inferNames([{ ...base, h: 'Bo Ek' }, recording, calls]).snippet).toBe(
      `// Options of the receiver
fieldNames: {
  placedBy: 'a', // equals userId of the recording event of its call
  calledNumber: 'b', // telephone numbers
  calledEmail: 'c', // email addresses
  // not sure: calledName: 'd', // full names
  // not sure: calledName: 'h', // full names
  createdAt: 'e', // epoch milliseconds, the same in every event of a call
  dialedAt: 'f', // a date and time, never after "g"
  endedAt: 'g', // a date and time, never before "f"
},
// Options of createClient
wire: {
  callsField: 'calls', // records whose _id is the callId of a captured event
  nextField: 'nextCursor', // its name says "next", and it holds a text or number
},`,
    );
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

  test('nothing captured, nothing proposed', () => {
    expect(inferNames([7, null, {}, { eventName: 'x' }])).toMatchObject({
      snippet: '',
      wire: [],
      read: { callEvents: 0, recordingEvents: 0, callRecords: 0, pages: 0, ignored: 4 },
    });
  });
});
