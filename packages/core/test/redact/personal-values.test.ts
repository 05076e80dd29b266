import { describe, expect, it } from '@jest/globals';
import { fieldKind, personalValues } from '../../src/report/redact.ts';
import { redact } from './payload.ts';

const UUID = '2c81daa7-1992-4560-a8ba-6fa1e9a4f6f8';
/** 240 characters without a space. */
const RUN = Array.from({ length: 40 }, (_, at) => `Zq${String(at * 7919).padStart(4, 'k')}`).join(
  '',
);

type Row = [what: string, content: unknown, text: string, logged: string];

describe('what is personal in a delivery', () => {
  it.each<Row>([
    [
      'a text of a field that is partly about people',
      { customerAlias: 'ada' },
      'no ada',
      'no [redacted]',
    ],
    [
      'a text inside of what is about people',
      { customer: { alias: 'ada' } },
      'no ada',
      'no [redacted]',
    ],
    ['a key of several words', { 'ada lovelace': 3 }, 'no ada', 'no [redacted]'],
    ['a key of two names', { Ada_Lovelace: 3 }, 'no lovelace', 'no [redacted]'],
    ['all of a password', { apiToken: '$p4$$w0rd!!' }, 'no $p4$$w0rd!!', 'no [redacted]'],
    ['a name before a number', { name: 'Ada Lovelace 5550123' }, 'no ada', 'no [redacted]'],
    ['a street after a number', { address: '12 Oxford' }, 'no Oxford', 'no [redacted]'],
    ['a name before an id', { customer: `Lovelace ${UUID}` }, 'no Lovelace', 'no [redacted]'],
    ['a name after an id', { customer: `${UUID}:Lovelace` }, 'no Lovelace', 'no [redacted]'],
    ['a name before a date', { contact: 'Ada Lovelace 2026-04-01' }, 'no Ada', 'no [redacted]'],
    ['a name after a date', { contact: '2026-04-01, Ada' }, 'no Ada', 'no [redacted]'],
    ['a name after a time', { contact: '2026-04-01 10:00 Ada' }, 'no Ada', 'no [redacted]'],
    [
      'a name in a note that begins with a day',
      { note: '2026-04-01 10:00 Ada Byron asked us to call her back' },
      'no Byron',
      'no [redacted]',
    ],
    ['a name after a URL', { contact: 'https://crm.example/7 Ada' }, 'no Ada', 'no [redacted]'],
    ['a name before a URL', { comment: 'Ada, https://crm.example/7' }, 'no Ada', 'no [redacted]'],
    [
      'a name that starts with a small letter',
      { label: 'de Havilland' },
      'no Havilland',
      'no [redacted]',
    ],
    ['a name that ends with a capital', { label: 'Ada LOVELACE' }, 'no Ada', 'no [redacted]'],
    ['a name that ends with a digit', { label: 'Ada Lovelace 2' }, 'no Ada', 'no [redacted]'],
    ['a name in a script without capitals', { label: 'עדה' }, 'no עדה', 'no [redacted]'],
    [
      'a name with an ordinary word',
      { name: 'Max Mustermann' },
      'no max mustermann',
      'no [redacted]',
    ],
    [
      'a name of eight words',
      { name: 'pablo diego josé francisco juan nepomuceno cipriano ruiz' },
      'no nepomuceno',
      'no [redacted]',
    ],
    [
      'two names that differ only in a space',
      { agent: 'J. de Lair', owner: 'J. Delair' },
      'neither j de lair nor j delair',
      'neither [redacted] nor [redacted]',
    ],
    [
      'a part of a long run of letters',
      { comment: RUN },
      `no ${RUN.slice(50, 80)}`,
      'no [redacted]',
    ],
    [
      'a phone number without a plus',
      { phone: '0171 5550123' },
      'no 491715550123',
      'no [redacted]',
    ],
    ['a phone number of 7 digits', { mobile: '555-0123' }, 'no 555 0123', 'no [redacted]'],
    [
      'a phone number of 15 digits',
      { mobile: '+123456789012345' },
      'no 123456789012345',
      'no [redacted]',
    ],
    [
      'a short number at which somebody is called',
      { deskExtension: 471 },
      'no 471',
      'no [redacted]',
    ],
  ])('%s is removed', (_what, content, text, logged) => {
    expect(redact(text, content)).toBe(logged);
  });

  it.each<[what: string, content: unknown, text: string]>([
    ['the name of the event', { eventName: 'call:transcribed' }, 'no handler of call:transcribed'],
    ['a number that is not about people', { amount: 37765128 }, 'no row 37765128'],
    ['an id in the text of a person', { contact: { title: 'Ticket 37765128' } }, 'no row 37765128'],
    [
      'an id that is too long for a phone number',
      { agent: '175928847299117063' },
      'no user 175928847299117063',
    ],
    ['a short number that nobody is called at', { agent: 404 }, 'status 404'],
    ['a number of two digits', { extension: 42 }, 'attempt 42'],
    ['a UUID of a person', { agent: UUID }, `no row ${UUID}`],
    ['a day', { contact: { since: '2026-04-01' } }, 'no rate for 2026-04-01'],
    ['a time', { contact: { since: '2026-04-01T10:00:00Z' } }, 'no rate for 2026-04-01T10:00:00Z'],
    ['a time with a zone', { contact: '2026-04-01 10:00:00 UTC' }, 'no rate for 10:00 UTC'],
    ['a time with an offset', { contact: '2026-04-01 10:00 +02:00' }, 'no rate for 2026-04-01'],
    ['a URL', { contact: { page: 'http://crm.example/people' } }, 'GET http://crm.example/people'],
    ['a constant of two words', { label: 'pre-dialer' }, 'no pre-dialer'],
    ['a constant of three words', { label: 'auto/pre_dialer' }, 'no auto/pre_dialer'],
    ['a constant that looks like a URL', { label: 'app://lead/hotlist' }, 'no app://lead/hotlist'],
    ['an id of letters and digits', { label: 'cus_9s6XKzkNRiz8i3' }, 'no cus_9s6XKzkNRiz8i3'],
    ['a word in small letters that is not about people', { label: 'Follow the zebra' }, 'no zebra'],
    [
      'a part of a short text that is not about people',
      { label: 'We follow the zebra herd' },
      'they follow the zebra herd',
    ],
    ['an initial', { name: 'J. Smith' }, 'no plan J'],
    ['an initial as a name', { name: 'J' }, 'no plan J'],
    ['a number in a name', { name: 'Hall 404' }, 'status 404'],
    ['ordinary words of a name, written small', { name: 'Will Page' }, 'it will page the owner'],
    ['a part of a word that is like a short password', { password: 'abc' }, 'no abcdef'],
  ])('%s stays', (_what, content, text) => {
    expect(redact(text, content)).toBe(text);
  });

  it('a name in small letters is removed, unless its text has more than 200 characters', () => {
    const name = 'lovelace'.padEnd(200, '.');
    expect(redact('no lovelace', { name })).toBe('no [redacted]');
    expect(redact('no lovelace', { name: `${name}.` })).toBe('no lovelace');
  });

  it('a state stays, unless it is a text of more than 200 characters', () => {
    const status = 'Lovelace'.padEnd(200, '.');
    expect(redact('no Lovelace', { status })).toBe('no Lovelace');
    expect(redact('no Lovelace', { status: `${status}.` })).toBe('no [redacted]');
  });
});

describe('personalValues', () => {
  it('searches 500 values, and gives up on more', () => {
    // The list is a value, too.
    const list = (length: number) =>
      Array.from({ length }, (_, at) => (at === 498 ? 'Grace' : 'Ada'));
    expect(personalValues(list(499))?.words).toEqual(new Set(['ada', 'grace']));
    expect(personalValues(list(500))).toBeUndefined();
  });

  it('gives up on more than 16,000 characters, with the names of fields', () => {
    expect(personalValues({ note: 'x'.repeat(15_996) })).toBeDefined();
    expect(personalValues({ note: 'x'.repeat(15_997) })).toBeUndefined();
  });
});

describe('fieldKind', () => {
  it.each([
    ['recipientName', 'personal'],
    ['home_address', 'personal'],
    ['callId', 'technical'],
    ['customer-status', 'technical'],
    ['label', 'unknown'],
    ['', 'unknown'],
  ])('tells what %j is about', (field, kind) => {
    expect(fieldKind(field)).toBe(kind);
  });

  it('takes what it does not know for a part of the field that it is in', () => {
    expect(fieldKind('label', 'personal')).toBe('personal');
    expect(fieldKind('id', 'personal')).toBe('technical');
    expect(fieldKind('label', 'technical')).toBe('unknown');
  });
});
