import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { isEmail, isPhoneNumber } from '@call-webhooks/client/infer';
import fc from 'fast-check';
import { readFixtures, record } from '../../src/index.ts';
import { temporaryFile } from './support.ts';

const numRuns = Number(process.env['RUNS'] ?? 50);

let file: ReturnType<typeof temporaryFile>;
beforeEach(() => {
  file = temporaryFile();
});
afterEach(() => {
  file.remove();
});

const SEED = 20_260_401;
const NAMES = [
  'Lovelace',
  'Brontë',
  'O’Neill',
  'MÜLLER',
  'ángeles',
  'van Gogh',
  '山田太郎',
  'Ćwikła',
];
const name = fc
  .tuple(fc.constantFrom('Grace', 'Édith', 'Björk'), fc.constantFrom(...NAMES))
  .map((parts) => parts.join(' '));
const digits = fc.string({
  unit: fc.constantFrom('3', '4', '5', '6', '7', '8', '9'),
  minLength: 7,
  maxLength: 7,
});
const phone = fc
  .tuple(fc.constantFrom('+1 (303) ', '+49', '0049-', '303.', ''), digits, fc.boolean())
  .map(([prefix, number, grouped]) => prefix + (grouped ? number.replace(/^.../, '$&-') : number));
const email = name.map(
  (full) => `${full.replace(/[^a-z]/gi, '.').toLowerCase()}@lovelace-mail.org`,
);
const url = fc
  .tuple(email, digits)
  .map(([mail, id]) => `https://crm.lovelace.org/people/${id}?mail=${mail}#x`);
const id = fc.constantFrom(24, 8, 40).chain((length) =>
  fc.string({
    unit: fc.constantFrom('a', 'c', 'e', 'f', '5', '7', '9'),
    minLength: length,
    maxLength: length,
  }),
);
const birthday = fc.constant('1815-12-10');
const note = fc
  .tuple(name, phone, email)
  .map(([who, number, mail]) => `Call ${who} back\nunder ${number}, or ${mail}!`);
const personal = fc.oneof(name, phone, email, url, id, note, birthday, digits.map(Number));

/** What must not be in a fixture: each word and each number of a planted value. */
function traces(value: unknown): string[] {
  const text = String(value);
  const words = text.match(/\p{L}{4,}|[\p{sc=Han}]{2,}/gu) ?? [];
  const numbers = text.replace(/(?<=\d)[ ().-]+(?=\d)/g, '').match(/\d{6,}/g) ?? [];
  const common = /^(?:https?|people|mail|call|back|under|example|lovelace-mail)$/i;
  return [
    ...words.filter((word) => !common.test(word)),
    ...numbers.map((number) => number.slice(-7)),
  ];
}

const field = fc.constantFrom(
  ...['recipientName', 'toPhoneNumber', 'note', 'data', 'x', 'status', 'url', 'userId', 'tags'],
  ...['recordingUrl', 'callId', 'label', 'Contact', 'eventId', 'type', 'birthDate'],
);
const body = fc.record({
  eventName: fc.constantFrom('call:completed', 'call:started', 'call:voicemail'),
  fromPhoneNumber: fc.dictionary(field, personal, { maxKeys: 3 }),
  more: fc.array(fc.oneof(personal, fc.dictionary(field, personal, { maxKeys: 3 })), {
    maxLength: 4,
  }),
});
const planted = fc.tuple(
  body,
  fc.dictionary(field, personal, { maxKeys: 6 }),
  fc.dictionary(fc.oneof(name, email, phone), fc.nat(9), { maxKeys: 2 }),
);

function valuesOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [value];
  return Object.values(value).flatMap(valuesOf);
}

it('planted personal data appears in no fixture', () => {
  fc.assert(
    fc.property(fc.array(planted, { minLength: 1, maxLength: 4 }), (all) => {
      file.remove();
      const recorder = record({ file: file.file });
      const secrets = new Set<string>();
      for (const [fixed, fields, keys] of all) {
        const { eventName, ...rest } = fixed;
        for (const value of [...valuesOf([rest, fields]), ...Object.keys(keys)])
          for (const trace of traces(value)) secrets.add(trace);
        recorder.add(JSON.stringify({ ...rest, ...fields, people: keys, eventName }));
      }
      const text = file.text().normalize('NFC').toLowerCase();
      const numbers = text.replace(/(?<=\d)[ ().-]+(?=\d)/g, '');
      const found = [...secrets].filter((secret) =>
        (/\d/.test(secret) ? numbers : text).includes(secret.normalize('NFC').toLowerCase()),
      );
      expect(found).toEqual([]);
    }),
    { seed: SEED, numRuns },
  );
});

it('gives fakes of the same shape', () => {
  const shape = (value: unknown) => {
    if (typeof value === 'string' && /^https:/.test(value)) return 'url';
    if (isEmail(value)) return 'email';
    if (isPhoneNumber(value)) return value.replace(/\d/g, '0');
    if (typeof value === 'number') return String(value).replace(/\d/g, '0');
    return String(value)
      .replace(/\p{Lu}/gu, 'A')
      .replace(/\p{Ll}/gu, 'a')
      .replace(/\d/g, '0');
  };
  const names = name.map((text) => text.normalize('NFKC').replace(/\p{M}/gu, ''));
  fc.assert(
    fc.property(fc.oneof(names, phone, email, url, digits.map(Number)), (value) => {
      file.remove();
      record({ file: file.file }).add({ value });
      const [fixture] = readFixtures(file.file) as [{ value: unknown }];
      expect(typeof fixture.value).toBe(typeof value);
      expect(shape(fixture.value).replace(/[\p{Lo}]/gu, '文')).toBe(
        shape(value).replace(/[\p{Lo}]/gu, '文'),
      );
      expect(fixture.value).not.toBe(value);
    }),
    { seed: SEED, numRuns },
  );
});

it('gives equal values one fake, and different values two', () => {
  const some = fc.array(fc.oneof(phone, email, id, digits), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(some, (values) => {
      file.remove();
      record({ file: file.file }).add({ values });
      const [fixture] = readFixtures(file.file) as [{ values: string[] }];
      const pairs = values.flatMap((one, at) =>
        values.map((other, to) => [one, other, at, to] as const),
      );
      for (const [one, other, at, to] of pairs)
        if (one === other) expect(fixture.values[at]).toBe(fixture.values[to]);
      expect(new Set(fixture.values).size).toBe(new Set(values).size);
    }),
    { seed: SEED, numRuns },
  );
});
