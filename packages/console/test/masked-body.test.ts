import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { indentJson } from '../src/recovery/indent-json.ts';
import { maskedBody, wholeBody } from '../src/recovery/masked-body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const masked = (value: unknown) =>
  JSON.parse(maskedBody(bytes(JSON.stringify(value))).text ?? '') as unknown;

describe('a masked body', () => {
  it('shows ids, times, states and the structure', () => {
    const shown = {
      ...{ eventName: 'call:completed', eventId: 'e1', callId: 'c1', status: 'answered' },
      ...{ createdAt: 1_800_000_000_000, endedAt: '2026-01-02T03:04:05Z', isTest: true, tags: [] },
      workspaceId: 'w1',
    };
    expect(masked(shown)).toEqual(shown);
  });

  it('masks what may be personal', () => {
    expect(
      masked({
        ...{ name: 'Ada', email: 'ada@example.com', phone: 491701234567, other: 'x', count: 3 },
        contact: { id: 'ada@example.com', tags: ['vip'], owner: { id: 'u1', first: 'Grace' } },
        ...{ recordingUrl: 'https://x.test/?token=abc', status: 'call Ada back', 'Ada L.': 1 },
      }),
    ).toEqual({
      ...{ name: '•••', email: '•••', phone: '•••', other: '•••', count: '•••' },
      contact: { id: '•••', tags: ['•••'], owner: { id: 'u1', first: '•••' } },
      ...{ recordingUrl: '•••', status: '•••', '•••': '•••' },
    });
  });

  it('shows nothing of what is no JSON', () => {
    const body = bytes('name=Ada');
    expect(maskedBody(body)).toMatchObject({ text: null, isJson: false, bytes: 8 });
    expect(wholeBody(body)).toMatchObject({ text: 'name=Ada', isJson: false });
  });

  it('is bounded, however deep or long the body is', () => {
    const deep = maskedBody(bytes('['.repeat(100_000) + ']'.repeat(100_000)));
    expect(deep.text?.length).toBeLessThanOrEqual(256 * 1024);
    const long = wholeBody(bytes(JSON.stringify(Array.from({ length: 200_000 }, () => 'x'))));
    expect(long).toMatchObject({ truncated: true });
    expect(long.text).toHaveLength(256 * 1024);
    const nested = wholeBody(bytes('['.repeat(50_000) + ']'.repeat(50_000)));
    expect(nested).toMatchObject({ truncated: true });
  });

  it('never shows a text in a field that nobody knows', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2 }), (text) => {
        const json = JSON.stringify(masked({ anything: text, list: [text] }));
        expect(json).toBe('{"anything":"•••","list":["•••"]}');
      }),
    );
  });
});

describe('indented JSON', () => {
  it('is as JSON.stringify indents it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentJson(JSON.stringify(value), Infinity)).toBe(JSON.stringify(value, null, 2));
        expect(indentJson(JSON.stringify(value, null, 3), Infinity)).toBe(
          JSON.stringify(value, null, 2),
        );
      }),
    );
  });

  it('is quick for many brackets and for long strings', () => {
    // Each of these took minutes, or more stack than there is, if a step looked at all that was made.
    const empty = `[${'[],'.repeat(300_000)}[]]`;
    expect(indentJson(empty, 2_000_000).split('\n')).toHaveLength(300_003);
    const long = JSON.stringify('\\"x'.repeat(3_000_000));
    expect(indentJson(long, Infinity)).toBe(long);
  });

  it('keeps long numbers as they are', () => {
    expect(indentJson('{"id":12345678901234567890}', 1_000)).toContain('12345678901234567890');
  });
});
