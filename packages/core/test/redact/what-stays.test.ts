import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../src/report/redact.ts';
import { PAYLOAD, redact } from './payload.ts';

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
    expect(redact('no Ada', trap)).toMatch(/^\[withheld/);
  });

  it('makes one line', () => {
    expect(redact('a\r\nb\u001b[31m\u2028c')).toBe('a b [31m c');
    expect(redact('a%0Ab ada%40example.com')).toBe('a b [redacted]');
  });
});

describe('the other ways to redact', () => {
  it("'off' removes nothing but line breaks, and cuts long texts", () => {
    const off = createRedactor('off', { body: PAYLOAD });
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
      { body: PAYLOAD, payload: {} },
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
