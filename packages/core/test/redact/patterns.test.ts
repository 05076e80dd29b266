import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redactId } from '../../src/internal.ts';
import { looksLikeEventName, tellEventNames } from '../../src/report/event-name.ts';
import { createRedactor, withRedactedIds } from '../../src/report/redact.ts';
import { runs, SEED } from '../support.ts';
import { contentOf, redact } from './payload.ts';

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

/** Numbers of many countries, as they are grouped there. */
const NUMBERS = [
  '+1 (201) 555-0123',
  '+1 506-234-5678',
  '+44 121 234 5678',
  '+44 (0)20 7946 0018',
  '+353 22 12345',
  '+49 30 123456',
  '+49 (0)1512 3456789',
  '+49 30/12 34 56',
  '+43 1 234567890',
  '+41 21 234 56 78',
  '+33 1 23 45 67 89',
  '+32 12 34 56 78',
  '+31 10 123 4567',
  '+352 27 12 34 56',
  '+34 810 12 34 56',
  '+351 21 234 5678',
  '+39 02 1234 5678',
  '+45 32 12 34 56',
  '+46 8-12 34 56',
  '+47 21 23 45 67',
  '+358 13 1234567',
  '+354 410 1234',
  '+48 12 345 67 89',
  '+420 212 345 678',
  '+36 1 234 5678',
  '+40 21 123 4567',
  '+30 21 2345 6789',
  '+90 (212) 345 67 89',
  '+7 301 123-45-67',
  '+380 44 123 4567',
  '+972 2-123-4567',
  '+20 2 34567890',
  '+27 10 123 4567',
  '+234 803 123 4567',
  '+254 20 2012345',
  '+91 74104 10123',
  '+86 10 1234 5678',
  '+852 2123 4567',
  '+81 3-1234-5678',
  '+82 2-2123-4567',
  '+65 6123 4567',
  '+61 2 1234 5678',
  '+64 3-234 5678',
  '+55 11 2345-6789',
  '+54 11 2345-6789',
  '+52 200 123 4567',
  '+56 2 2123 4567',
  '+57 601 2345678',
];

describe.each(NUMBERS)('%s', (number) => {
  const digits = number.replace(/\D/g, '');

  it.each([
    ['as it is', number],
    ['without gaps', `+${digits}`],
    ['with dots', `+${digits.replace(/(\d{3})(?=\d)/g, '$1.')}`],
    ['with dashes of a typesetter', `+${digits.replace(/(\d{2})(?=\d)/g, '$1\u2013')}`],
    ['with blanks that do not break', number.replaceAll(' ', '\u00a0')],
    ['escaped for a URL', encodeURIComponent(number)],
  ])('is removed %s', (_how, text) => {
    expect(redact(`no ${text}!`)).toBe('no [redacted]!');
  });

  it.each(['phone ', 'phone: ', '"toPhoneNumber":"', 'mobile=', 'tel. ', 'dialing '])(
    'is removed without its plus after %s',
    (word) => {
      const national = number.slice(1);
      expect(redact(`${word}${national}!`)).toBe(`${word}[redacted]!`);
      expect(redact(`${word}${digits}!`)).toBe(`${word}[redacted]!`);
    },
  );

  it('is removed in any grouping if it was called', () => {
    const called = { toPhoneNumber: number };
    for (const gap of ['', ' ', '-', '.', '/', ') ', ' ('])
      expect(redact(`no ${(digits.match(/\d/g) ?? []).join(gap)}!`, called)).toBe('no [redacted]!');
    expect(redact(`row ${digits.slice(-7)}`, called)).toBe('row [redacted]');
  });
});

describe('what is no phone number', () => {
  it.each([
    ['less than 7 digits', 'at +1 30, +12 345 and phone 123456'],
    ['an id after "number" or "call"', 'call 37765128 failed; row number 12345678'],
    ['a date', 'the last SMS 2026-04-01 10:00:00 failed'],
    ['the address of a server', 'dialing 192.168.100.150:5060 failed'],
    ['a time in milliseconds', 'last called 1775037600000'],
  ])('stays: %s', (_what, text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('redactId', () => {
  it.each([
    'call-1:call:completed',
    '65f1c0ffee65f1c0ffee65f1:call:started',
    'b1f7a2c4-1f7e-4a52-9d3a-0123456789ab',
    'custom:ticket-4711',
    '15550104477',
    'tenant:Acme Corp:call-1:call:started',
  ])('keeps %s', (id) => {
    expect(redactId(id)).toBe(id);
  });

  it.each([
    ['ada@example.com', '[redacted]'],
    ['custom:ada@example.com', 'custom:[redacted]'],
    ['+491715550123:call:completed', '[redacted]:call:completed'],
    ['+49 171 5550123', '[redacted]'],
    ['tel:030-5550123', 'tel:[redacted]'],
    ['custom:phone:555-010-4477', 'custom:phone:[redacted]'],
    [`${'x.'.repeat(97)}-ada@example.com`, '[redacted]'],
    ['custom:whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'custom:[redacted]'],
    ['a\nb\u2028c', '[redacted]'],
    ['Ada Lovelace', '[redacted]'],
    ['Zelda\u200bQuixotic', '[redacted]'],
    ['Jürgen', '[redacted]'],
    ['custom:Ada Lovelace', '[redacted]'],
    ['tenant:Acme Corp:Ada Lovelace:call:started', '[redacted]'],
    ['x'.repeat(500), 'x'.repeat(200)],
  ])('makes %j %j', (id, told) => {
    expect(redactId(id)).toBe(told);
  });

  it('takes no shortcut that keeps what the redactor removes', () => {
    const redact = createRedactor();
    const words =
      'call phone number tel token secret api_key key sk rk_live_ ghp_ npm_ xoxb glpat AKIA AIza eyJ bearer basic password whsec_';
    const piece = fc.oneof(
      fc.constantFrom(...words.split(' ')),
      fc.stringMatching(/^\d{1,12}$/),
      fc.constantFrom('030-5550123', '555-010-4477', '0171-555', '1-2-3-4-5-6-7'),
      fc.stringMatching(/^[A-Za-z\d_]{1,20}$/),
      fc.constantFrom('-', ':', '_', '::', '+', '@', '.', '-', ':'),
    );
    const ids = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(ids, (id) => {
        expect(redactId(id)).toBe(redact(id));
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });
});

describe('the tenant of withRedactedIds', () => {
  const shownTenant = (tenant: string, webhookId?: string) =>
    withRedactedIds({ tenant, webhookId }).tenant;

  it('redacts the tenant of a delivery that is not verified', () => {
    expect(shownTenant('ada@example.com')).toBe('[redacted]');
    expect(shownTenant('acme')).toBe('acme');
  });

  it('shows the tenant of a verified delivery as it is', () => {
    expect(shownTenant('ada@example.com', 'id-1')).toBe('ada@example.com');
  });
});

describe('withRedactedIds', () => {
  const tenant = 'ada@example.com';
  const ids = { eventName: `custom:${tenant}`, callId: tenant, key: `key of ${tenant}` };

  it('redacts every id, and keeps the rest', () => {
    expect(withRedactedIds({ ...ids, tenant, webhookId: tenant, attempt: 2 })).toEqual({
      eventName: '[redacted]',
      callId: '[redacted]',
      key: '[redacted]',
      webhookId: '[redacted]',
      tenant,
      attempt: 2,
    });
    expect(withRedactedIds({ tenant })).toEqual({ tenant: '[redacted]' });
  });

  it('changes nothing in what it copies, and adds nothing to it', () => {
    const before = { callId: tenant, key: undefined };
    expect(withRedactedIds(before)).toStrictEqual({ callId: '[redacted]', key: undefined });
    expect(before.callId).toBe(tenant);
  });
});

const UNITS = {
  name: 'x',
  names: 'x ',
  apostrophe: "x'",
  at: '@',
  address: 'a@b.',
  dash: '-',
  dots: 'a.',
  digit: '1',
  digits: '1 ',
  numbers: '+1 (',
  space: ' ',
  percent: '%',
  quotes: ".'",
  url: 'x://',
  bearer: 'bearer ',
  token: 'eyJ-',
  password: 'token=',
  quoted: 'token="x ',
  'not closed': "token='x ",
  key: '-----BEGIN PRIVATE KEY-----',
};

// A pattern that starts anew at each letter would take minutes.
it.each(Object.entries(UNITS))('a long run of one thing ends soon: %s', (_what, unit) => {
  const text = unit.repeat(200_000).slice(0, 200_000);
  const redact = createRedactor('standard', contentOf({ note: text, recipientName: text }));
  expect(redact(text).length).toBeLessThan(5_000);
  expect(redact('a note')).toBe('a note');
});

it('names of events that look like no names are shown if they were configured: 1,000 of a process', () => {
  const configured = Array.from({ length: 1_001 }, (_, at) => `Rückruf ${String(at)}`);
  tellEventNames(configured);
  const shown = configured.filter((name) => looksLikeEventName(name));
  expect(shown).toEqual(configured.slice(0, 1_000));
});
