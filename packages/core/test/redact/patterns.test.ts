import { describe, expect, it } from '@jest/globals';
import { redact } from './payload.ts';

describe('the value after the name of a secret', () => {
  it.each([
    ['begins with a usual word', 'token: access_4f7d2a'],
    ['has the letters of a usual word', 'password=time-out'],
    ['begins like the name of an error', 'password=Error2026x'],
    ['begins like the code of an error', 'token=ECONN7x2'],
    ['ends like the code of an error', 'token=x7ECONN'],
  ])('is removed if it %s', (_how, text) => {
    expect(redact(text)).toMatch(/^(?:token|password)[:=] ?\[redacted\]$/);
  });

  it.each([
    ['password="hunter2 rest" failed', 'password="[redacted]" failed'],
    [`pwd: 'open sesame', retry`, `pwd: '[redacted]', retry`],
    ['{"token":"hunt\\"er 2","n":1}', '{"token":"[redacted]","n":1}'],
  ])('is removed up to its closing quote: %s', (text, logged) => {
    expect(redact(text)).toBe(logged);
  });

  it.each(['token: "invalid or expired"', "secret: 'not found'"])(
    'stays if all of its words in quotes are usual ones: %s',
    (text) => {
      expect(redact(text)).toBe(text);
    },
  );

  it('is removed with the word before it', () => {
    expect(redact('sent Authorization: Basic dXNlcjpwdw==')).toBe('sent Authorization: [redacted]');
  });

  it.each(['token: ((expired)).', 'secret: «missing»', 'token=[invalid_grant]!!'])(
    'stays if it only tells what is wrong: %s',
    (text) => {
      expect(redact(text)).toBe(text);
    },
  );
});

describe('the credentials of a URL', () => {
  it.each(['git+https', 'http+unix', 'rediss'])(
    'are removed up to the last @, if it is one of %s',
    (scheme) => {
      expect(redact(`${scheme}://app:hun/t@r2@host`)).toBe(`${scheme}://[redacted]@host`);
    },
  );

  it.each(['http', 'https', 'ws', 'wss', 'HTTPS'])(
    'are looked for in front of the path, if it is one of %s',
    (scheme) => {
      const path = 'crm.example.com/@ada/calls?at=@home';
      expect(redact(`${scheme}://${path}`)).toBe(`${scheme}://${path}`);
      expect(redact(`${scheme}://app:hunter2@${path}`)).toBe(`${scheme}://[redacted]@${path}`);
    },
  );
});

describe('a phone number', () => {
  it.each(['+1 555 010', '(0171) 55-123', '+123456789012345', 'tel: 123 456 789 012 345'])(
    'has 7 to 15 digits: %s',
    (text) => {
      expect(redact(`no ${text}!`)).toMatch(/^no (?:tel: )?\[redacted\]!$/);
    },
  );

  it.each([
    ['less than 7 digits', 'at +1 30, +12 345, (10) 20-30 and 012 345'],
    ['more than 15 digits', 'phone 1234567890123456 and +1 2345678 90123456 78'],
    ['a date', 'the last SMS 2026-04-01 10:00:00 failed, and fax 01.04.2026'],
    ['the address of a server', 'dialing 192.168.100.150:5060 failed'],
    ['a time in milliseconds', 'last called 1775037600000'],
  ])('is not %s', (_what, text) => {
    expect(redact(text)).toBe(text);
  });
});
