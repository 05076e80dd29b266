import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { redactStrictly, sensitiveTexts } from '../../src/report/redact.ts';
import { runs, SECRET, SEED } from '../support.ts';

const redact = (text: string, payload?: unknown) =>
  redactStrictly(text, sensitiveTexts(payload, Infinity));

const PAYLOAD = {
  eventName: 'call:completed',
  eventId: 'call-7:completed',
  callId: 'call-7',
  toPhoneNumber: '+1 (555) 010-4477',
  recipientName: 'Ada King-Noel Lovelace',
  recipientEmail: 'countess@example.com',
  nested: [{ deeper: { label: 'Byron, Annabella' } }],
  extension: 4711,
  客户: '李明',
  team: 'Ada, Annabella, Anne, Noel, Byron',
  note: '**Babbage** called',
};

describe('redactStrictly', () => {
  it.each([
    ['a secret', `bad key ${SECRET}!`, SECRET.slice(6)],
    ['a URL-safe secret', 'bad key whsec_abc-def_ghi', 'def'],
    ['an e-mail address', 'no contact ada.l+x@example.co.uk', 'ada.l'],
    ['an encoded e-mail address', 'GET /c?email=ada%40example.com failed', 'ada'],
    ['a quoted e-mail address', '{"to":"ada@example.com"}', 'ada'],
    ['a number, plain', 'can not call 15550104477', '0104477'],
    ['a number, with a plus', 'can not call +15550104477.', '0104477'],
    ['a number, in groups', 'can not call +1 (555) 010-4477', '4477'],
    ['a number, with dots', 'can not call 555.010.4477', '4477'],
    ['a number, with slashes', 'can not call 0555/010/4477', '4477'],
    ['a number, with dashes of a typesetter', 'can not call +1 555–010–4477', '4477'],
    ['an encoded number', 'GET /c?phone=%2B15550104477', '0104477'],
    ['a URL password', 'connect redis://user:hunter2@cache:6379 failed', 'hunter2'],
    ['a URL password without a user', 'connect redis://:hunter2@cache:6379 failed', 'hunter2'],
    ['a URL password with an @', 'connect redis://u:hunt@er2@cache:6379 failed', 'er2'],
    ['a URL password with a /', 'connect redis://u:hun/ter2@cache:6379 failed', 'ter2'],
    ['a password of a connection text', 'host=db user=app password=hunter2', 'hunter2'],
    ['a password in JSON', '{"password":"hunter2"}', 'hunter2'],
    ['an API token', 'X-API-Token: abcdef failed', 'abcdef'],
    ['a bearer token', 'Authorization: Bearer abcdef', 'abcdef'],
  ])('takes out %s', (_name, text, planted) => {
    expect(text).toContain(planted);
    expect(redact(text)).not.toContain(planted);
    expect(redact(text)).toContain('[redacted]');
  });

  it.each([
    ['the whole name', 'no contact Ada King-Noel Lovelace', 'Lovelace'],
    ['a first name', 'no contact Ada', 'Ada'],
    ['a last name in another case', "LOVELACE's account", 'LOVELACE'],
    ['an encoded name', 'GET /c?name=Ada%20Lovelace', 'Lovelace'],
    ['a name after a plus', 'GET /c?name=Ada+Lovelace', 'Lovelace'],
    ['a name before a comma', 'no contact Byron', 'Byron'],
    ['a name in an array', 'no contact Annabella', 'Annabella'],
    ['the name of an address', 'no mailbox countess', 'countess'],
    ['a name in a list', 'no contact Noel', 'Noel'],
    ['a name in bold type', 'no contact Babbage', 'Babbage'],
    ['a number that is a number', 'no extension 4711', '4711'],
    ['a name without spaces around it', '客户李明不存在', '李明'],
  ])('takes %s out of a text about the payload', (_name, text, planted) => {
    expect(text + decodeURIComponent(text)).toContain(planted);
    expect(redact(text, PAYLOAD)).not.toContain(planted);
  });

  it('takes out what stands in odd places of a payload', () => {
    expect(redact('no contact Ada', { 'Ada Lovelace': 3 })).not.toContain('Ada');
    expect(redact('no contact Ada', new Map([['Ada', 1]]))).not.toContain('Ada');
    expect(redact('no contact Ada', new Map([['k', 'Ada']]))).not.toContain('Ada');
    expect(redact('no contact Ada', [new Set(['Ada'])])).not.toContain('Ada');
    expect(redact('no contact 4477', { extension: 4477n })).not.toContain('4477');
    expect(redact('no contact 李', { name: '李' })).not.toContain('李');
    const six = 'María de los Ángeles Fernández López';
    expect(redact('no contact Ángeles', { name: six })).not.toContain('Ángeles');
  });

  it.each([
    ['quotes', 'Ada said "call me tomorrow" to us'],
    ['a line break', 'Ada\nLovelace'],
    ['a control character', 'x\u0001Lovelace'],
    ['a long note', 'Ada Byron said "call me tomorrow at the office" about the offer'],
  ])('takes a value with %s out of a text that quotes it as JSON', (_name, note) => {
    const clean = redact(`CRM refused ${JSON.stringify({ note })}`, { note });
    expect(clean).toBe('CRM refused {"note":"[redacted]"}');
    expect(redact(JSON.stringify(note).slice(4), { note })).not.toMatch(/Lovelace|tomorrow|Byron/);
  });

  it('takes a part of a longer value out of a text', () => {
    const note = 'Ada Byron asked us to call her back tomorrow about the big offer';
    expect(redact(`refused ${note.slice(0, 30)}…`, { note })).toBe('refused [redacted]…');
    expect(redact(`refused:${note.slice(4, 15).trim().toUpperCase()}!`, { note })).toBe(
      'refused:[redacted]!',
    );
    const transcript = `${'word '.repeat(2_000)} Ada Byron is on the line`;
    expect(redact('no Ada Byron is here', { transcript })).toBe('no[redacted]here');
  });

  it('takes keys out that do not look like field names', () => {
    const people = { Lovelace: 1, Ada_King: 2, '4477': 3, recipientName: 4 };
    expect(redact('Lovelace, Ada_King, 4477, recipientName', { people })).toBe(
      '[redacted], [redacted], [redacted], recipientName',
    );
    expect(
      redact(
        'item 12',
        Array.from({ length: 20 }, () => true),
      ),
    ).toBe('item 12');
  });

  it('leaves what tells the events apart, and whole other words', () => {
    expect(redact('call-7 of call:completed failed: Adamant', PAYLOAD)).toBe(
      'call-7 of call:completed failed: Adamant',
    );
    expect(redact('ECONNREFUSED 127.0.0.1:6379')).toContain('ECONNREFUSED');
  });

  it('takes a value with the signs of a regular expression for a text', () => {
    expect(redact('no (a+)+$ [x', { odd: '(a+)+$ [x' })).toBe('no [redacted]');
  });

  it('withholds a text when there is too much to look for', () => {
    const many = Array.from({ length: 600 }, (_, i) => `value${String(i)}`);
    expect(redact('no value1', many)).toMatch(/^\[withheld/);
  });

  it('withholds a text that is too long to search', () => {
    expect(redact(`${'a'.repeat(4_000)} Ada`, PAYLOAD)).toMatch(/^\[withheld: 4004 characters/);
    expect(redact('no, '.repeat(1_000))).toBe('no, '.repeat(1_000));
  });

  it('makes one line', () => {
    expect(redact('a\r\nb%0Ac\u001b[31m')).toBe('a b c [31m');
  });

  it('takes any name out of any text that quotes it', () => {
    const name = fc.stringMatching(/^[A-Z][a-zäöüéñ]{2,12}( [A-Z][a-z'-]{2,12}[a-z]){0,2}$/);
    fc.assert(
      fc.property(name, fc.constantFrom(' ', ', ', '"', ': ', '/', '=', '%20'), (who, mark) => {
        const first = who.split(' ')[0] as string;
        for (const quoted of [who, first, who.toUpperCase(), encodeURIComponent(who)]) {
          const clean = redact(`>${mark}${quoted}${mark}<`, { person: { name: who } });
          expect(clean.toLowerCase()).not.toContain(first.toLowerCase());
        }
      }),
      { seed: SEED, numRuns: runs(20) },
    );
  });

  it('takes every text of a payload out, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 2 }), (planted) => {
        fc.pre(!'[redacted]'.includes(planted));
        expect(redact(`<${planted}>`, { planted })).toBe('<[redacted]>');
      }),
      // Planted texts that a word character ends or begins stand alone between the brackets.
      { seed: SEED, examples: [['$&'], ['a.*b'], ['(((']] },
    );
  });
});
