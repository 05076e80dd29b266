import { describe, expect, it } from '@jest/globals';
import { sensitiveTexts } from '../../src/report/redact.ts';

describe('sensitiveTexts', () => {
  it('lists texts and their words, the longest first', () => {
    expect(sensitiveTexts({ name: 'Lovelace, Ada' }, 100)).toEqual([
      'Lovelace, Ada',
      'Lovelace',
      'Ada',
    ]);
    expect(sensitiveTexts(['ada@example.com'], 100)).toEqual([
      'ada@example.com',
      'example.com',
      'ada',
    ]);
  });

  it('leaves out the ids of events, and single letters', () => {
    const event = { eventName: 'call:started', eventId: 'e-1', callId: 'c-1', initial: 'A' };
    expect(sensitiveTexts(event, 100)).toEqual([]);
  });

  it('takes no words from a long text', () => {
    const note = 'one two three four five six seven eight nine';
    expect(sensitiveTexts({ note }, 100)).toEqual([note]);
    const short = 'Ada one two three four five six seven';
    expect(sensitiveTexts({ short }, 100)).toContain('Ada');
    const link = `Ada ${'x'.repeat(197)}`;
    expect(sensitiveTexts({ link }, 1_000)).toEqual([link]);
    expect(sensitiveTexts([link.slice(1)], 1_000)).toContain('da');
  });

  it('leaves out what is too long, and takes no words from a run without separators', () => {
    expect(sensitiveTexts({ note: 'x'.repeat(101), name: 'Ada' }, 100)).toEqual(['Ada']);
    const run = '-'.repeat(1_000);
    expect(sensitiveTexts({ run }, 1_000)).toEqual([run]);
  });

  it('gives up on more than 500 texts', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => 1_000 + i);
    expect(sensitiveTexts(numbers(500), 100)).toHaveLength(500);
    expect(sensitiveTexts(numbers(501), 100)).toBeUndefined();
  });

  it('reads what contains itself', () => {
    const call: Record<string, unknown> = { name: 'Ada' };
    call['again'] = [call];
    expect(sensitiveTexts(call, 100)).toEqual(['Ada']);
  });

  it('gives up on what cannot be read', () => {
    let nested: unknown = 'Ada';
    for (let depth = 0; depth < 50_000; depth++) nested = [nested];
    expect(sensitiveTexts(nested, 100)).toBeUndefined();
  });

  it.each([undefined, null, true, '', [], {}])('finds nothing in %j', (payload) => {
    expect(sensitiveTexts(payload, 100)).toEqual([]);
  });
});
