import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { headerValue } from '../../src/http/request.ts';
import {
  casedHeaderNames,
  headerNames,
  readSignatureHeaders,
} from '../../src/signature/headers.ts';
import { fixedKeys } from '../../src/signature/secrets.ts';
import { authenticate, sign } from '../../src/signature/verify.ts';
import { NOW, SECONDS, SECRET, SEED } from '../support.ts';

const names = headerNames();
const good = {
  'x-service-webhook-id': 'msg_1',
  'x-service-timestamp': '1760000000',
  'x-service-signature': `v1,${'A'.repeat(43)}=`,
};
type Plain = Record<string, string | string[] | undefined>;
const read = (change: Plain) => readSignatureHeaders({ ...good, ...change }, names);

describe('readSignatureHeaders', () => {
  it('reads a record, a record in another case, one-element lists and Headers alike', () => {
    const expected = {
      webhookId: 'msg_1',
      timestamp: '1760000000',
      signature: `${'A'.repeat(43)}=`,
    };
    const cased = Object.fromEntries(Object.entries(good).map(([k, v]) => [k.toUpperCase(), v]));
    const listed = Object.fromEntries(Object.entries(good).map(([k, v]) => [k, [v]]));
    for (const headers of [good, cased, listed, new Headers(good)])
      expect(readSignatureHeaders(headers, names)).toEqual(expected);
  });

  it.each(Object.keys(good))('reports a missing %s', (name) => {
    for (const value of [undefined, ''])
      expect(() => read({ [name]: value })).toThrow(
        expect.objectContaining({ code: 'missing-header' }),
      );
    const { [name as keyof typeof good]: _gone, ...rest } = good;
    expect(() => readSignatureHeaders(rest, names)).toThrow(
      expect.objectContaining({ code: 'missing-header' }),
    );
  });

  it('ignores inherited values', () => {
    const headers = Object.create(good) as Plain;
    expect(() => readSignatureHeaders(headers, names)).toThrow(
      expect.objectContaining({ code: 'missing-header' }),
    );
  });

  const S = good['x-service-signature'];
  it.each<[string, string | string[]]>([
    ['id', 'a b'],
    ['id', 'a, b'],
    ['id', 'a,b'],
    ['id', 'a.b'],
    ['id', 'ä'],
    ['id', 'a\nb'],
    ['id', 'a\n'],
    ['id', ' a'],
    ['id', 'x'.repeat(257)],
    ['id', ['a', 'b']],
    ['id', []],
    ['timestamp', '1e9'],
    ['timestamp', ' 1760000000'],
    ['timestamp', '1760000000 '],
    ['timestamp', '1760000000\n'],
    ['timestamp', '0x68e778'],
    ['timestamp', '1760000000.5'],
    ['timestamp', '-1760000000'],
    ['timestamp', '+1760000000'],
    ['timestamp', '01760000000'],
    ['timestamp', '0'],
    ['timestamp', 'NaN'],
    ['timestamp', 'Infinity'],
    ['timestamp', '1760000000abc'],
    ['timestamp', '1760000000, 1760000000'],
    ['timestamp', '١٧٦٠٠٠٠٠٠٠'],
    ['timestamp', '9'.repeat(13)],
    ['timestamp', ['1760000000', '1760000000']],
    ['signature', S.slice(3)],
    ['signature', S.replace('v1', 'v2')],
    ['signature', S.replace('v1', 'V1')],
    ['signature', `${S} ${S}`],
    ['signature', `${S}, ${S}`],
    ['signature', `${S}\n`],
    ['signature', S.replace('v1,', 'v1, ')],
    ['signature', S.slice(0, -1)],
    ['signature', `${S}=`],
    ['signature', `v1,${'A'.repeat(42)}==`],
    ['signature', `v1,${'_'.repeat(43)}=`],
    ['signature', 'v1,'],
    ['signature', [S, S]],
  ])('refuses the %s %j', (which, value) => {
    expect(() => read({ [`x-service-${which === 'id' ? 'webhook-id' : which}`]: value })).toThrow(
      expect.objectContaining({ code: 'malformed-header' }),
    );
  });

  it('refuses what Headers join', () => {
    const headers = new Headers(good);
    headers.append('x-service-webhook-id', 'msg_2');
    expect(() => readSignatureHeaders(headers, names)).toThrow(
      expect.objectContaining({ code: 'malformed-header' }),
    );
  });

  it.each<[string, string | (string | undefined)[], string]>([
    ['webhook-id', 'a b', 'one id of 1 to 256 visible ASCII characters'],
    ['timestamp', 'now', 'Unix seconds in plain digits'],
    ['signature', 'v1', '"v1," followed by 44 characters of base64'],
    ['signature', [S, S], 'a single value'],
    ['webhook-id', [undefined], 'a single value'],
  ])('says which header is malformed, and what it should be: %s is %j', (name, value, expected) => {
    const header = `x-service-${name}`;
    expect(() => read({ [header]: value as string[] })).toThrow(
      expect.objectContaining({
        code: 'malformed-header',
        message: expect.stringMatching(`The ${header} header is malformed. Expected ${expected}`),
      }),
    );
  });

  it('says what to do where no header is sent', () => {
    expect(() => read({ 'x-service-signature': undefined })).toThrow(
      'no x-service-signature header. Webhook actions saved before signing was introduced send none: recreate',
    );
  });

  it('accepts the longest id and the largest timestamp', () => {
    expect(read({ 'x-service-webhook-id': 'x'.repeat(256) }).webhookId).toHaveLength(256);
    expect(read({ 'x-service-timestamp': '9'.repeat(12) }).timestamp).toHaveLength(12);
  });
});

describe('names', () => {
  it('are made of a prefix, or named one by one', () => {
    expect(casedHeaderNames()).toEqual({
      id: 'X-Service-Webhook-Id',
      timestamp: 'X-Service-Timestamp',
      signature: 'X-Service-Signature',
    });
    expect(headerNames('Acme')).toEqual({
      id: 'acme-webhook-id',
      timestamp: 'acme-timestamp',
      signature: 'acme-signature',
    });
    const own = { id: 'A', timestamp: 'B', signature: 'C' };
    expect(headerNames(own)).toEqual({ id: 'a', timestamp: 'b', signature: 'c' });
    expect(casedHeaderNames(own)).toEqual(own);
  });

  it.each(['X Service', 'X:Service', 'X\r\nService', 'Ü', 'x'.repeat(200)])(
    'refuses %j',
    (prefix) => {
      expect(() => headerNames(prefix)).toThrow(
        expect.objectContaining({
          code: 'invalid-options',
          message: expect.stringContaining('Use a prefix such as "X-Service"'),
        }),
      );
    },
  );

  it('refuses names that are no text', () => {
    const own = { id: 7, timestamp: 'B', signature: 'C' } as unknown as {
      id: string;
    } & typeof names;
    expect(() => headerNames(own)).toThrow(expect.objectContaining({ code: 'invalid-options' }));
  });

  it('gives undefined or null for a missing header', () => {
    expect(headerValue({}, 'content-encoding')).toBeUndefined();
    expect(headerValue(new Headers(), 'content-encoding')).toBeNull();
  });
});

/** What is known of a delivery that was signed at this time; Unix seconds. */
const authentic = async (timestamp: number, now = NOW, toleranceSeconds = 300) => {
  const body = new Uint8Array();
  const headers = await sign({ secret: SECRET, body, timestamp });
  const rules = { headerNames: names, toleranceSeconds };
  return authenticate(headers, body, now, rules, fixedKeys(SECRET));
};
const accepted = async (seconds: number, now = NOW, tolerance = 300) => {
  try {
    await authentic(seconds, now, tolerance);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'timestamp-out-of-tolerance' });
    return false;
  }
};

describe('the timestamp', () => {
  it.each([
    [0, true],
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
    [1_000_000, false],
  ])('with %p s of difference says %p', async (difference, expected) => {
    expect(await accepted(SECONDS + difference)).toBe(expected);
  });

  it('respects the configured tolerance', async () => {
    expect(await accepted(SECONDS - 10, NOW, 10)).toBe(true);
    expect(await accepted(SECONDS - 11, NOW, 10)).toBe(false);
  });

  it('is said to be early or late', async () => {
    await expect(authentic(SECONDS - 400)).rejects.toThrow('400 s ago');
    await expect(authentic(SECONDS + 400)).rejects.toThrow('400 s ahead');
  });
});

describe('replayUntil', () => {
  it('covers the whole time in which the signature is valid, at least 300 s', async () => {
    const moment = fc.integer({ min: NOW, max: NOW + 10_000_000 });
    await fc.assert(
      fc.asyncProperty(
        moment,
        fc.integer({ min: -300, max: 300 }),
        fc.integer({ min: 0, max: 999 }),
        async (now, ahead, part) => {
          const signed = Math.floor(now / 1000) + ahead;
          const { replayUntil: until } = await authentic(signed, now);
          expect(until).toBeGreaterThanOrEqual(now + 300_000);
          expect(await accepted(signed, until + part)).toBe(until + part < (signed + 301) * 1000);
          expect(await accepted(signed, Math.max(until, (signed + 301) * 1000))).toBe(false);
        },
      ),
      { seed: SEED },
    );
  });
});
