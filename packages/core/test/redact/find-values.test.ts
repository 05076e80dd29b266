import { describe, expect, it } from '@jest/globals';
import { redact } from './payload.ts';

const CONTENT = {
  toPhoneNumber: '+49 171 5550123',
  fromPhoneNumber: '+49 30 5550987',
  owner: 'Ada',
  agent: 'Grace',
  recipientName: 'J. Smith',
};

describe('where values of a delivery are found', () => {
  it.each([
    ['several names in a row, as one', 'neither Ada, Grace, Smith nor', 'neither [redacted] nor'],
    ['a name across an escape of JSON', '{"who":"J\\nSmith"}', '{"who":"[redacted]"}'],
    ['the country and the area before a number', 'no 49 171 5550123', 'no [redacted]'],
    ['the digits that are dialed before a number', 'no 00491715550123', 'no [redacted]'],
    ['brackets and a plus before a number', 'no +(491715550123)', 'no [redacted])'],
    ['two numbers in a row', 'no 5550123 5550987', 'no [redacted]'],
    ['a number that comes twice', 'from 491715550123 491715550123', 'from [redacted]'],
    ['a number that comes twice, in brackets', '5550123 (5550123)', '[redacted])'],
    ['a number behind one that is longer', 'row 55501239 (5550123)', 'row 55501239 [redacted])'],
    ['two numbers in a row, the other way round', 'no 5550987 5550123', 'no [redacted]'],
  ])('%s', (_what, text, logged) => {
    expect(redact(text, CONTENT)).toBe(logged);
  });

  it('removes the whole of a secret or a name that begins with another one', () => {
    const keys = { token: 'abcd', secret: 'abcdEFGH', familyName: '李', fullName: '李明' };
    expect(redact('bad abcdEFGH of 李明', keys)).toBe('bad [redacted] of [redacted]');
  });

  it('keeps the digits before a number that are not a part of it', () => {
    expect(redact('after 25 5550123', CONTENT)).toBe('after 25 [redacted]');
  });
});
