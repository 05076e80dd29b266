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

  it('is removed with the word before it', () => {
    expect(redact('sent Authorization: Basic dXNlcjpwdw==')).toBe('sent Authorization: [redacted]');
  });

  it.each([
    ['tells what is wrong', 'token: expired', 'token: [redacted]'],
    [
      'stands in JSON in JSON',
      String.raw`{\"apiToken\":\"hunter2\"}`,
      String.raw`{\"apiToken\":\"[redacted]\"}`,
    ],
    ['follows another word', 'my_db_password=hunter2', 'my_db_password=[redacted]'],
  ])('is removed if it %s', (_how, text, logged) => {
    expect(redact(text)).toBe(logged);
  });

  it.each([
    'Basic authentication is required; WWW-Authenticate: Bearer realm="api"',
    'password authentication failed; the token expired',
  ])('is not where none follows: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
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

describe('the token of a service', () => {
  it.each([
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'sk-proj-abcdefghijklmnop1234',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'github_pat_11AAAAAAA0abcdefghij',
    'npm_abcdefghijklmnopqrstuvwxyz0123456789',
    'xoxb-123456789012-abcdefghijkl',
    'AKIAIOSFODNN7EXAMPLE',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    'SG.abcdefghijklmnop.qrstuvwxyz0123456789',
  ])('is removed: %s', (token) => {
    expect(redact(`bad ${token}!`)).toBe('bad [redacted]!');
    expect(redact(`key_${token}`)).toBe('key_[redacted]');
  });

  it('is removed if it is a JSON Web Token, or a private key', () => {
    expect(redact('bad eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln!')).toBe('bad [redacted]!');
    const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----';
    expect(redact(`in ${key}!`)).toBe('in [redacted]!');
  });
});
