import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inferNames } from '../../src/infer/index.ts';
import { inferred } from '../support/inferred.ts';
import { callNames, capturedCalls, type CallNames } from '../support/captured-calls.ts';

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
