import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SECRET, runs, SEED } from '../support.ts';
import { PAYLOAD, redact } from './payload.ts';

describe('what is removed', () => {
  it.each([
    ['a secret', `bad key ${SECRET}!`, 'bad key [redacted]!'],
    ['a URL-safe secret', 'bad key whsec_abc-def_ghi', 'bad key [redacted]'],
    ['an e-mail address', 'no ada.l+x@example.co.uk!', 'no [redacted]!'],
    ['an e-mail address with an apostrophe', "no o'hara@example.com", 'no [redacted]'],
    ['an encoded e-mail address', 'GET /c?email=ada%40example.com', 'GET /c?email=[redacted]'],
    ['an e-mail address beside what is no escape', '%de% a@b.example', '%de% [redacted]'],
    ['an e-mail address of letters that are not Latin', 'no 李明@例子.公司', 'no [redacted]'],
    ['a number with a plus', 'no +15550104477.', 'no [redacted].'],
    ['a number in groups', 'no +1 (555) 010-4477', 'no [redacted]'],
    ['a number without a country', 'no (555) 010-4477 here', 'no [redacted] here'],
    ['a number with dots', 'no 555.010.4477', 'no [redacted]'],
    ['a number with slashes', 'no 0555/010/4477', 'no [redacted]'],
    ['a number with spaces', 'no 0171 5550123', 'no [redacted]'],
    ['a number with dashes of a typesetter', 'no +1 555–010–4477', 'no [redacted]'],
    ['an encoded number', 'GET /c?phone=%2B15550104477', 'GET /c?phone=[redacted]'],
    ['a number after its name', '{"phone":"15550104477"}', '{"phone":"[redacted]"}'],
    ['a number that is called', 'can not call 15550104477', 'can not call [redacted]'],
    ['a URL password', 'redis://user:hunter2@cache:6379', 'redis://[redacted]@cache:6379'],
    ['a URL password alone', 'redis://:hunter2@cache:6379', 'redis://[redacted]@cache:6379'],
    ['a URL password with an @', 'redis://u:hunt@er2@cache', 'redis://[redacted]@cache'],
    ['a URL password with a /', 'redis://u:hun/ter2@cache', 'redis://[redacted]@cache'],
    ['a password of a file', 'file://user:hun/ter2@cache', 'file://[redacted]@cache'],
    ['a password of a file without a host', 'file:///u:hun/ter2@c', 'file://[redacted]@c'],
    ['a password after a path', 'file:///a/@b,redis://u:hunter2@c', 'file://[redacted]@c'],
    ['a password of a connection', 'user=app password=hunter2', 'user=app password=[redacted]'],
    ['a password in JSON', '{"password":"hunter2"}', '{"password":"[redacted]"}'],
    ['an API token', 'X-API-Token: abcdef failed', 'X-API-Token: [redacted] failed'],
    ['a bearer token', 'got Bearer abc-def', 'got Bearer [redacted]'],
    ['a signature', 'X-Service-Signature: v1,K5oZ=', 'X-Service-Signature: [redacted]'],
    ['a GitHub token', 'bad ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'bad [redacted]'],
    [
      'a private key',
      'in -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----',
      'in [redacted]',
    ],
  ])('%s', (_name, text, logged) => {
    expect(redact(text)).toBe(logged);
  });

  it.each([
    ['the whole name', 'no contact Ada King-Noel Lovelace', 'no contact [redacted]'],
    ['a first name', 'no contact Ada', 'no contact [redacted]'],
    ['a name in another case', "LOVELACE's account", "[redacted]'s account"],
    ['an encoded name', 'GET /c?name=Ada%20Lovelace', 'GET /c?name=[redacted]'],
    ['a name after a plus', 'GET /c?name=Ada+Lovelace', 'GET /c?name=[redacted]'],
    ['a name in JSON', '{"who":"Ada\\nLovelace"}', '{"who":"[redacted]\\n[redacted]"}'],
    ['a name of an unknown field', 'no contact Byron', 'no contact [redacted]'],
    ['a name in an array', 'no contact annabella', 'no contact [redacted]'],
    ['a part of an address', 'no mailbox countess', 'no mailbox [redacted]'],
    ['a number, written otherwise', 'no 5550104477 or 010-4477', 'no [redacted] or [redacted]'],
    ['a number in an id', 'GET /people/15550104477', 'GET /people/[redacted]'],
    ['an extension', 'no extension 4711', 'no extension [redacted]'],
    ['a name without spaces around it', '客户李明不存在', '[redacted]不存在'],
  ])('%s of the delivery', (_name, text, logged) => {
    expect(redact(text, PAYLOAD)).toBe(logged);
  });

  it('what stands in odd places of a payload', () => {
    expect(redact('no Ada', { 'Ada Lovelace': 3 })).toBe('no [redacted]');
    expect(redact('no Ada', { Ada: 3 })).toBe('no [redacted]');
    expect(redact('no Ada', new Map([['Ada', 1]]))).toBe('no [redacted]');
    expect(redact('no Ada', [new Set(['Ada'])])).toBe('no [redacted]');
    expect(redact('no 4477', { extension: 4477n })).toBe('no [redacted]');
    expect(redact('no 15550104477', { phone: 15550104477 })).toBe('no [redacted]');
    expect(redact('no ada', { customer: { first: 'ada' } })).toBe('no [redacted]');
    expect(redact('no 李', { name: '李' })).toBe('no [redacted]');
    expect(redact('no Angeles', { name: 'María de los Ángeles' })).toBe('no [redacted]');
    expect(redact('no j smith', { name: 'J. Smith' })).toBe('no [redacted]');
    expect(redact('no hunter2', { apiToken: 'hunter2' })).toBe('no [redacted]');
  });

  it('a name that is an ordinary word, where it is written as in the delivery', () => {
    const person = { recipientName: 'Will Page' };
    expect(redact('The job for Will will be retried', person)).toBe(
      'The job for [redacted] will be retried',
    );
    expect(redact('the next page of Page', person)).toBe('the next page of [redacted]');
  });

  it('quotes of a note, and the names in it', () => {
    const note = 'Ada Byron asked us to call her back tomorrow about the big offer';
    expect(redact(`refused ${note.slice(0, 30)}…`, { note })).toBe('refused [redacted]…');
    expect(redact('no contact BYRON', { note })).toBe('no contact [redacted]');
    expect(redact('no offer for tomorrow', { note })).toBe('no offer for tomorrow');
  });

  it('any name, in any text that quotes it', () => {
    const name = fc.stringMatching(/^[A-Z][a-zäöüéñ]{2,12}( [A-Z][a-z'-]{2,12}[a-z]){0,2}$/);
    const marks = fc.constantFrom(' ', ', ', '"', ': ', '/', '=', '%20', '\\n', '_');
    fc.assert(
      fc.property(name, marks, (who, mark) => {
        const first = who.split(' ')[0] as string;
        for (const quoted of [who, first, first.toUpperCase(), encodeURIComponent(who)]) {
          const clean = redact(`>${mark}${quoted}${mark}<`, { person: { name: who } });
          expect(clean.replaceAll('[redacted]', '')).not.toContain(quoted);
        }
      }),
      { seed: SEED, numRuns: runs(50) },
    );
  });

  it('the password of any URL, also of one that only looks like a file', () => {
    const scheme = fc.constantFrom('postgres', 'redis', 'file', 'webpack', 'webpack-internal');
    const user = fc.stringMatching(/^[a-z]{2,8}$/);
    const password = fc.stringMatching(/^[0-9A-Z]{3}[0-9A-Z/@:]{0,8}[0-9A-Z]{3}$/);
    const slashes = fc.constantFrom('//', '///', '///a/@b,redis://');
    fc.assert(
      fc.property(scheme, slashes, user, password, (name, start, who, secret) => {
        const clean = redact(`no ${name}:${start}${who}:${secret}@cache/0`);
        expect(clean).toBe(`no ${name}://[redacted]@cache/0`);
      }),
      { seed: SEED, numRuns: runs(50) },
    );
  });

  it('any phone number, however it is grouped', () => {
    const number = fc.stringMatching(/^[1-9]\d{9,12}$/);
    const gap = fc.constantFrom('', ' ', '-', '.', '/', ') ', ' (');
    fc.assert(
      fc.property(number, fc.array(gap, { minLength: 12, maxLength: 12 }), (digits, gaps) => {
        const grouped = digits
          .split('')
          .map((digit, at) => digit + (gaps[at] ?? ''))
          .join('');
        const clean = redact(`no ${grouped}!`, { toPhoneNumber: `+${digits}` });
        expect(clean.replace(/\D/g, '').length).toBeLessThan(7);
      }),
      { seed: SEED, numRuns: runs(50) },
    );
  });
});
