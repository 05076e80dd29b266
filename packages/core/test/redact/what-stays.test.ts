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
    'call 37765128 failed; row number 12345678',
    'GET https://api.example.com:8443/v1/calls/call-7?limit=100&at=2026-04-01',
    'https://example.com/a@b/c and git+ssh://host/x',
    '/app/node_modules/.pnpm/pg@8.11.3/node_modules/pg/lib/client.js:526:17',
    'at runHandler (file:///app/node_modules/@call-webhooks/core/dist/bundle/receiver-B1x.js:1973:9)',
    'at file:///app/node_modules/.pnpm/pg@8.11.3_@types+pg@8.11/node_modules/@types/pg/a.js:5:17',
    'at file:///C:/app/node_modules/@call-webhooks/core/dist/esm/index.js:3:1',
    'at POST (webpack-internal:///(rsc)/./node_modules/@call-webhooks/next/index.js:12:5)',
    'at webpack:///node_modules/@call-webhooks/core/index.js:3:1 and node:internal/timers:581:17',
    'password authentication failed; Unexpected token: }; token: expired; secret: undefined',
    'Basic authentication is required; WWW-Authenticate: Bearer realm="api"',
    'Failed to refresh the token: TypeError: fetch failed; secret: invalid_grant; token: ECONNRESET',
    "user 'app'@'localhost', [::1]:6379, fe80::1%eth0",
    'ERR_HTTP_HEADERS_SENT 0.1 + 0.2 = 0.30000000000000004',
    '100%25 of a%2Fb',
  ])('%s', (text) => {
    expect(redact(text, PAYLOAD)).toBe(text);
  });

  it('ids, times, states, URLs and constants of the delivery', () => {
    const text =
      'call-7 of call:completed in space-1: status completed, outbound, Busy; Adamant at https://api.example.com/v1';
    expect(redact(text, PAYLOAD)).toBe(text);
    const odd = { kind: 'Follow up', label: 'in-progress', mode: 'AUTO', at: '2026-04-01' };
    expect(redact('Follow up in-progress AUTO 2026-04-01', odd)).toBe(
      'Follow up in-progress AUTO 2026-04-01',
    );
  });

  it('keys that are the names of fields', () => {
    const content = { CustomerName: 1, recipientName: 2, call_id: 3, Name: 4 };
    const text = 'CustomerName, recipientName, call_id and Name are required';
    expect(redact(text, content)).toBe(text);
  });
});

describe('what cannot be searched', () => {
  it('is cut, with its last word', () => {
    const long = redact(`${'a '.repeat(1_990)}Wilhelmina Oyelaran`.padEnd(9_000, '!'), {
      name: 'Wilhelmina Oyelaran',
    });
    expect(long).toContain('(9000 characters)');
    expect(long).not.toMatch(/Wilhelm|Oye/);
  });

  it('is cut in front of a name, and no earlier', () => {
    const cut = createRedactor('off');
    const start = `${'no, '.repeat(996)}the Größe7 of`;
    expect(cut(`${start} Wilhelmina, our guest`)).toBe(`${start} … (4019 characters)`);
    const whole = 'yes '.repeat(1_000);
    expect(cut(whole)).toBe(whole);
  });

  it('is withheld, if there is too much to look for, or it cannot be read', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `Value ${String(i)}`);
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
  it("'strict' removes more, 'off' nothing but line breaks", () => {
    const text = 'Ada Busy\n10.0.0.5:5432 +15550104477';
    expect(createRedactor('strict', { body: PAYLOAD })(text)).toBe(
      '[redacted] [redacted] [redacted]:5432 [redacted]',
    );
    expect(createRedactor('off', { body: PAYLOAD })(text)).toBe(
      'Ada Busy 10.0.0.5:5432 +15550104477',
    );
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
    expect(createRedactor(own as () => string)('Ada')).toBe(
      '[withheld: the redact function failed]',
    );
  });
});
