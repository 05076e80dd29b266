import fc from 'fast-check';
import { anyCharacter } from '@call-webhooks/contract-tests/any-text';
import { describe, expect, it } from '@jest/globals';
import { originsOf } from '../../src/errors.ts';
import { isRecord, parsePayload } from '../../src/events/events.ts';
import type { WebhookError } from '../../src/index.ts';
import { bytes, SEED } from '../support.ts';

const deep = (levels: number) => bytes('['.repeat(levels) + ']'.repeat(levels));

describe('parsePayload', () => {
  it('keeps the error of the parser from log lines, since it quotes the body', () => {
    let error: unknown;
    try {
      parsePayload(bytes('planted'));
    } catch (thrown) {
      error = thrown;
    }
    expect(originsOf(error as WebhookError)).toMatchObject([
      { source: 'schema', isWithheld: true },
    ]);
  });

  it('parses every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const text = JSON.stringify(value);
        expect(parsePayload(bytes(text))).toEqual(JSON.parse(text));
      }),
      { seed: SEED },
    );
  });

  it.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), 'not valid JSON'],
    ['text', bytes('planted words'), 'not valid JSON'],
    ['half a body', bytes('{"a":'), 'not valid JSON'],
    ['two values', bytes('{}{}'), 'not valid JSON'],
    ['a BOM', Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), 'not valid JSON'],
    ['bytes that are not UTF-8', Uint8Array.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
    ['an overlong encoding', Uint8Array.from([0x22, 0xc0, 0xaf, 0x22]), 'not valid UTF-8'],
    ['a surrogate in UTF-8', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'not valid UTF-8'],
    ['UTF-16', Uint8Array.from(Buffer.from('{}', 'utf16le')), 'not valid JSON'],
    ['65 levels', deep(65), 'nested more than 64 levels'],
    [
      '66 levels of objects and lists in turn',
      bytes('{"a":['.repeat(33) + ']}'.repeat(33)),
      'nested more than 64 levels',
    ],
    ['10,000 levels', deep(10_000), 'nested more than 64 levels'],
  ])('refuses %s without quoting it', (_name, body, message) => {
    expect(() => parsePayload(body)).toThrow(expect.objectContaining({ code: 'invalid-payload' }));
    expect(() => parsePayload(body)).toThrow(message);
    expect(() => parsePayload(body)).not.toThrow('planted');
  });

  it('accepts 64 levels', () => {
    expect(() => parsePayload(deep(64))).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['lists side by side', Array(100).fill([])],
    ['objects and nulls side by side', [...Array<object>(100).fill({}), null]],
    ['brackets in a text', '[{'.repeat(100)],
  ])('accepts any number of %s', (_name, payload) => {
    expect(parsePayload(bytes(JSON.stringify(payload)))).toEqual(payload);
  });

  it('keeps __proto__ as an own property, and the last of two equal keys', () => {
    const parsed = parsePayload(bytes('{"__proto__":{"admin":true},"a":1,"a":2}')) as Record<
      string,
      unknown
    >;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parsed['admin']).toBeUndefined();
    expect(Object.hasOwn(parsed, '__proto__')).toBe(true);
    expect(parsed['a']).toBe(2);
  });
});

describe('isRecord', () => {
  it.each([['a text'], [7], [true], [null], [[{}]]])('is not true of %j', (value) => {
    expect(isRecord(value)).toBe(false);
  });

  it('is true of an object, even without fields', () => {
    expect(isRecord({})).toBe(true);
  });
});
