import { compileFunction } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import fc from 'fast-check';
import { inferNames } from '../../src/infer/index.ts';
import { base } from '../support/inferred.ts';

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
