import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createRedactor } from '../../src/report/redact.ts';
import { runs, SECRET, SEED } from '../support.ts';
import { ERROR_TEXTS, EVENT } from './error-texts.ts';
import { contentMade, contentOf, PAYLOAD, redact } from './payload.ts';

describe('what is removed', () => {
  it.each([
    ['a secret', `bad key ${SECRET}!`, 'bad key [redacted]!'],
    ['a URL-safe secret', 'bad key whsec_abc-def_ghi', 'bad key [redacted]'],
    ['an email address', 'no ada.l+x@example.co.uk!', 'no [redacted]!'],
    ['an email address with an apostrophe', "no o'hara@example.com", 'no [redacted]'],
    ['an encoded email address', 'GET /c?email=ada%40example.com', 'GET /c?email=[redacted]'],
    ['an email address beside what is no escape', '%de% a@b.example', '%de% [redacted]'],
    ['an email address of letters that are not Latin', 'no 李明@例子.公司', 'no [redacted]'],
    ['a number with a plus', 'no +15550104477.', 'no [redacted].'],
    ['an encoded number', 'GET /c?phone=%2B15550104477', 'GET /c?phone=[redacted]'],
    ['a number after its name', '{"phone":"15550104477"}', '{"phone":"[redacted]"}'],
    ['a number that is called', 'can not call 15550104477', 'can not call [redacted]'],
    ['a URL password', 'redis://user:hunter2@cache:6379', 'redis://[redacted]@cache:6379'],
    ['a URL password alone', 'redis://:hunter2@cache:6379', 'redis://[redacted]@cache:6379'],
    ['a URL password with an @', 'redis://u:hunt@er2@cache', 'redis://[redacted]@cache'],
    ['a URL password with a /', 'redis://u:hun/ter2@cache', 'redis://[redacted]@cache'],
    ['a password of a connection', 'user=app password=hunter2', 'user=app password=[redacted]'],
    ['a password in JSON', '{"password":"hunter2"}', '{"password":"[redacted]"}'],
    ['a password of digits', 'password=1234', 'password=[redacted]'],
    ['an API token', 'X-API-Token: abcdef failed', 'X-API-Token: [redacted] failed'],
    ['a bearer token', 'got Bearer abc-def', 'got Bearer [redacted]'],
    ['a signature', 'X-Service-Signature: v1,K5oZ=', 'X-Service-Signature: [redacted]'],
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
    ['the address before its @', 'no mailbox the.countess', 'no mailbox [redacted]'],
    ['a number, written otherwise', 'no 5550104477 or 010-4477', 'no [redacted] or [redacted]'],
    ['a number in an id', 'GET /people/15550104477', 'GET /people/[redacted]'],
    ['what is dialed before a number', 'no 0015550104477', 'no [redacted]'],
    ['any other text', 'no contact "byron, annabella"', 'no contact "[redacted]"'],
    ['any other text in a word', 'the disoutbound', 'the dis[redacted]'],
    [
      'the path of a URL',
      'GET https://api.example.com/v1/calls/call-7/recording',
      'GET https://api.example.com[redacted]',
    ],
  ])('%s of the delivery', (_name, text, logged) => {
    expect(redact(text, PAYLOAD)).toBe(logged);
  });

  it('a number that was sent without quotes, if it can be one of a phone', () => {
    for (const called of [1_000_000, 5_550_104, 491_715_550_123])
      expect(redact(`no ${String(called)}`, { called })).toBe('no [redacted]');
    expect(redact('after 999999', { called: 999_999 })).toBe('after 999999');
  });

  it('a name in other spellings', () => {
    const called = (recipientName: string) => ({ recipientName });
    const both = { recipientName: 'Ada Lovelace', recipientEmail: 'ada.king@example.com' };
    expect(redact('no ada.king', both)).toBe('no [redacted]');
    expect(redact('no Angeles', called('María de los Ángeles'))).toBe('no [redacted]');
    expect(redact('no j smith', called('J. Smith'))).toBe('no j [redacted]');
    expect(redact('no Jos\\u00e9', called('José'))).toBe('no [redacted]');
    expect(redact('客户李明不存在', called('李明'))).toBe('客户[redacted]不存在');
    expect(redact('a will that will', called('Will Page'))).toBe('a [redacted] that [redacted]');
  });

  it('the fields that the option fieldNames names', () => {
    const body = { who: 'Ada Lovelace', to: '+1 555 010 4477', mail: 'countess@example.com' };
    const fieldNames = { calledName: 'who', calledNumber: 'to', calledEmail: 'mail' };
    const own = createRedactor('standard', contentOf(body, fieldNames));
    expect(own('no Ada at 010-4477 or countess')).toBe('no [redacted] at [redacted] or [redacted]');
  });

  it('what stands in odd places of a delivery', () => {
    expect(redact('no ada lovelace', { 'Ada Lovelace': 3 })).toBe('no [redacted]');
    const made = (text: string, event: unknown) =>
      createRedactor('standard', contentMade(event))(text);
    expect(made('no Grace', new Map([['Grace', 1]]))).toBe('no [redacted]');
    expect(made('no Grace', [new Set(['Grace'])])).toBe('no [redacted]');
    expect(redact('no 15550104477', { phone: 15550104477 })).toBe('no [redacted]');
    const body = { first: 'Grace' };
    const both = createRedactor('standard', contentMade({ name: 'Grace Hopper' }, body));
    expect(both('no Grace Hopper')).toBe('no [redacted]');
    const cyclic: Record<string, unknown> = { name: 'Grace' };
    cyclic['self'] = cyclic;
    expect(made('no Grace', cyclic)).toBe('no [redacted]');
  });

  it('several values in a row, as one', () => {
    const names = { owner: 'Grace', agent: 'Hopper' };
    expect(redact('neither Grace, Hopper nor', names)).toBe('neither [redacted] nor');
  });

  it('a value after letters that change their length in lower case', () => {
    expect(redact('İİİ: GRACE ΟΔΟΣ!', { first: 'Grace', last: 'Οδος' })).toBe('İİİ: [redacted]!');
  });

  it('every text of 4 characters or more, wherever it stands', () => {
    const text = fc.oneof(
      fc.string({ minLength: 4 }),
      fc.string({ unit: 'grapheme', minLength: 4 }),
    );
    const isPlain = (value: string) =>
      /^\d{4}-|^[\da-f-]{16,}$|^1[4-9]\d{11}$|^https?:/i.test(value);
    fc.assert(
      fc.property(text, fc.string(), fc.string(), (planted, before, after) => {
        const value = planted.trim();
        fc.pre(value.length >= 4 && !isPlain(value));
        const capitals = value.toUpperCase();
        const isSame = capitals.length === value.length && capitals.toLowerCase() === value;
        for (const quoted of [
          value,
          JSON.stringify(value).slice(1, -1),
          isSame ? capitals : value,
        ]) {
          const clean = redact(before + quoted + after, { list: [{ other: planted }] });
          expect(clean.replaceAll('[redacted]', '\0')).not.toContain(quoted);
        }
      }),
      {
        seed: SEED,
        numRuns: runs(300),
        examples: [
          ['$&$&', '', ''],
          ['a.*b', 'x', 'y'],
          ['((((', '', ''],
          ['1abcd', '%4', ''],
        ],
      },
    );
  });

  it('every word of a name', () => {
    const name = fc.stringMatching(/^[A-Z][a-zäöüéñ]{1,12}( [A-Z][a-z'-]{2,12}[a-z]){0,2}$/);
    const marks = fc.constantFrom(' ', ', ', '"', ': ', '/', '=', '%20', '\\n', '_');
    fc.assert(
      fc.property(name, marks, (who, mark) => {
        const first = who.split(' ')[0] as string;
        for (const quoted of [who, first, first.toUpperCase(), encodeURIComponent(who)]) {
          const clean = redact(`>${mark}${quoted}${mark}<`, { recipientName: who });
          expect(clean.replaceAll('[redacted]', '')).not.toContain(quoted);
        }
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('the password of any URL', () => {
    const scheme = fc.constantFrom('postgres', 'redis', 'amqp', 'mongodb+srv');
    const user = fc.stringMatching(/^[a-z]{2,8}$/);
    const password = fc.stringMatching(/^[0-9A-Z]{3}[0-9A-Z/@:]{0,8}[0-9A-Z]{3}$/);
    fc.assert(
      fc.property(scheme, user, password, (name, who, secret) => {
        const clean = redact(`no ${name}://${who}:${secret}@cache/0`);
        expect(clean).toBe(`no ${name}://[redacted]@cache/0`);
      }),
      { seed: SEED, numRuns: runs(50) },
    );
  });
});

describe('texts of real errors', () => {
  const redact = createRedactor('standard', contentOf(EVENT));

  it.each(ERROR_TEXTS)('%s: %s', (_from, text, logged) => {
    expect(redact(text)).toBe(logged);
  });

  it('has at least 40 of them, and in half of them nothing is personal', () => {
    expect(ERROR_TEXTS.length).toBeGreaterThanOrEqual(40);
    const same = ERROR_TEXTS.filter(([, text, logged]) => text === logged);
    expect(same.length).toBeGreaterThanOrEqual(ERROR_TEXTS.length / 2);
  });
});

describe('what stays', () => {
  it.each([
    'connect ECONNREFUSED 10.0.0.5:5432',
    '2026-04-01T10:00:00.000Z and 2026-04-01 10:00:00 and 04/01/2026 and 01.04.2026',
    '20260401T100000Z, 1775037600000, 1775037600',
    '550e8400-e29b-41d4-a716-446655440000 and 12345678-1234-1234-1234-123456789012',
    'at position 1234567 of 2,147,483,647, 99.95 %, 1.22.3334, 0x7ffee4',
    'GET https://api.example.com:8443/v1/calls/call-7?limit=100&at=2026-04-01',
    'https://example.com/a@b/c and git+ssh://host/x',
    '/app/node_modules/.pnpm/pg@8.11.3/node_modules/pg/lib/client.js:526:17',
    'at runHandler (file:///app/node_modules/@call-webhooks/core/dist/bundle/receiver-B1x.js:1973:9)',
    'at file:///app/node_modules/.pnpm/pg@8.11.3_@types+pg@8.11/node_modules/@types/pg/a.js:5:17',
    'at file:///C:/app/node_modules/@call-webhooks/core/dist/esm/index.js:3:1',
    'at POST (webpack-internal:///(rsc)/./node_modules/@call-webhooks/next/index.js:12:5)',
    'at webpack:///node_modules/@call-webhooks/core/index.js:3:1 and node:internal/timers:581:17',
    'password authentication failed; the secret is undefined',
    "user 'app'@'localhost', [::1]:6379, fe80::1%eth0",
    'ERR_HTTP_HEADERS_SENT 0.1 + 0.2 = 0.30000000000000004',
    '100%25 of a%2Fb',
  ])('%s', (text) => {
    expect(redact(text, PAYLOAD)).toBe(text);
  });

  it('what tells the events of a delivery apart, its times and its long ids', () => {
    const content = {
      ...{ eventName: 'call:completed', callId: 'call-7', createdAt: 1_775_037_600_000 },
      userId: '66a1b2c3d4e5f60000000001',
      webhook: '550e8400-e29b-41d4-a716-446655440000',
      endedAt: '2026-04-01T10:00:00.000Z',
    };
    const text = `${Object.values(content).join(' ')} at 2026-04-01`;
    expect(redact(text, content)).toBe(text);
  });

  it('the names of fields, short values and small numbers', () => {
    const content = { recipient: 1, call_id: 3, kind: 'new', count: 65_535 };
    const text = 'recipient, call_id, kind and count are no new fields of 65535';
    expect(redact(text, content)).toBe(text);
  });

  it('the origin of a URL', () => {
    const text = 'connect https://api.example.com: ECONNREFUSED';
    expect(redact(text, PAYLOAD)).toBe(text);
  });
});

describe('a long text', () => {
  it('is cut, and has no beginning of a value at its end', () => {
    const names = { recipientName: 'Wilhelmina Oyelaran', other: 'Byron of Rochdale' };
    for (let length = 3_960; length <= 4_000; length++) {
      const start = 'a '.repeat(2_000).slice(0, length);
      for (const name of Object.values(names)) {
        const clean = redact(`${start}${name}`.padEnd(9_000, '!'), names);
        expect(clean).toContain('(9000 characters)');
        expect(clean).not.toMatch(/[WOBR]/);
      }
    }
  });

  it('has nothing of a value that it quotes in part', () => {
    const note = Array.from({ length: 2_000 }, (_, at) => `word${String(at)}`).join(' ');
    expect(redact(`no ${note}`, { note })).toBe(
      `no [redacted]… (${String(note.length + 3)} characters)`,
    );
  });
});

describe('what cannot be searched', () => {
  it('is withheld', () => {
    const many = Array.from({ length: 60_000 }, (_, i) => `Value ${String(i)}`);
    expect(redact('no value', many)).toMatch(/^\[withheld/);
    const trap = Object.defineProperty({}, 'name', {
      enumerable: true,
      get() {
        throw new Error('trapped');
      },
    });
    expect(createRedactor('standard', contentMade(trap))('no Ada')).toMatch(/^\[withheld/);
  });

  it('makes one line', () => {
    expect(redact('a\r\nb\u001b[31m\u2028c')).toBe('a b [31m c');
    expect(redact('a%0Ab ada%40example.com')).toBe('a b [redacted]');
  });
});

describe('what cannot be seen', () => {
  const HIDDEN = [
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200f',
    '\ufeff',
    '\u00ad',
    '\u3164',
    '\u2060',
    '\u{e0041}',
    '\u034f',
  ];

  it.each(HIDDEN.map((sign) => [sign.codePointAt(0)?.toString(16), sign]))(
    '%s is in no text, and hides no value',
    (_name, sign) => {
      expect(redact(`no${sign} c${sign}ontact`)).toBe('no contact');
      for (const [text, name] of [
        [`no Wil${sign}helmina`, 'Wilhelmina'],
        ['no Wilhelmina', `Wil${sign}helmina`],
        [`no Wil${sign}helmina`, `Wilhel${sign}mina`],
      ] as const)
        for (const body of [{ first: name }, { recipientName: `${name} Ada` }])
          expect(redact(text, body)).toBe('no [redacted]');
      for (const way of ['off', (text: string) => text] as const)
        expect(createRedactor(way)(`a${sign}b`)).toBe('ab');
    },
  );

  it('hides no value in an escape either', () => {
    for (const text of ['no Wil\\u202ehelmina', 'no Wil%E2%80%AEhelmina'])
      expect(redact(text, { first: 'Wilhelmina' })).toBe('no [redacted]');
  });

  it('half of a surrogate pair is replaced', () => {
    expect(redact('a\ud800b')).toBe('a\ufffdb');
  });
});

describe('the other ways to redact', () => {
  it("'off' removes nothing but line breaks, and cuts long texts", () => {
    const off = createRedactor('off', contentOf(PAYLOAD));
    expect(off('Ada Busy\n10.0.0.5:5432 +15550104477')).toBe('Ada Busy 10.0.0.5:5432 +15550104477');
    expect(off('x'.repeat(5_000))).toBe(`${'x'.repeat(4_000)}… (5000 characters)`);
  });

  it('a function gets the text and the event', () => {
    const seen: unknown[] = [];
    const own = createRedactor(
      (text, event) => {
        seen.push(event);
        return `${text.replace('Ada', 'X')}\n`;
      },
      contentMade({}, PAYLOAD),
    );
    expect(own('Ada Lovelace')).toBe('X Lovelace ');
    expect(seen).toEqual([PAYLOAD]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['returns no text', () => Promise.resolve('x')],
  ])('a function that %s withholds the text', (_how, own) => {
    expect(createRedactor(own as () => string)('Ada')).toMatch(/^\[withheld/);
  });
});
