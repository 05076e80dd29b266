import crypto, { createHmac } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import { createReceiver, generateSecret, sign, verify, type Secret } from '../../src/index.ts';
import type { WebhookError } from '../../src/index.ts';
import { SECRET, SECRET_ID, SEED } from '../support.ts';

const OTHER = generateSecret();
const THIRD = generateSecret();
const thrown = (run: () => unknown): WebhookError => {
  try {
    run();
  } catch (error) {
    return error as WebhookError;
  }
  throw new Error('nothing was thrown');
};
const refused = (secret: unknown) => {
  const { code, message } = thrown(() => createReceiver({ secret: secret as Secret }));
  expect(code).toBe('invalid-secret');
  return message;
};
const body = new TextEncoder().encode('{"eventName":"call:started"}');
/** What a secret without a name is called. */
const idOf = (secret: string, name = 'secret') => {
  const hmac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'));
  hmac.update('fingerprint of a call-webhooks secret');
  return `${name}-${hmac.digest('hex').slice(0, 8)}`;
};
/** The ids of the secrets that verify what each of these signs. */
const idsOf = (secret: Secret, ...signers: string[]) =>
  Promise.all(
    signers.map(async (signer) => {
      const headers = await sign({ secret: signer, body });
      return (await verify({ headers, body }, { secret })).secretId;
    }),
  );

describe('a text with several secrets', () => {
  it.each([
    ['a comma', ','],
    ['a comma and a space', ', '],
    ['a space', ' '],
    ['a tab', '\t'],
    ['a line', '\n'],
    ['a line of Windows', '\r\n'],
    ['a comma and a line', ',\n'],
    ['an empty line', '\n\n'],
  ])('is a list: separated by %s', async (_name, separator) => {
    const secret = [SECRET, OTHER, THIRD].join(separator);
    const ids = [SECRET, OTHER, THIRD].map((one) => idOf(one));
    expect(await idsOf(secret, SECRET, OTHER, THIRD)).toEqual(ids);
    expect(await idsOf([secret], SECRET, OTHER, THIRD)).toEqual(ids);
  });

  it.each([
    ['a comma at the end', `${SECRET},`],
    ['a line at the end', `${SECRET}\n`],
    ['white space around it', ` \t${SECRET} \r\n`],
    ['commas in a row', `,${SECRET},,`],
  ])('may have %s', async (_name, secret) => {
    expect(await idsOf(secret, SECRET)).toEqual([SECRET_ID]);
  });

  it('may end in the padding of base64', async () => {
    const padded = [generateSecret(16), generateSecret(17)];
    expect(await idsOf(padded.join(' '), ...padded)).toEqual(padded.map((one) => idOf(one)));
  });

  it('may be an item of a list, and have a name', async () => {
    const { id, secret } = { id: 'calls', secret: `${SECRET},${OTHER}` };
    expect(await idsOf([{ id, secret }, THIRD], SECRET, OTHER, THIRD)).toEqual([
      idOf(SECRET, 'calls'),
      idOf(OTHER, 'calls'),
      idOf(THIRD),
    ]);
  });

  it('may come from a provider', async () => {
    const secrets = () => `${SECRET},${OTHER}`;
    const { receive } = createReceiver({ secret: secrets, logger: collectingLogger() });
    for (const secret of [SECRET, OTHER]) {
      const headers = await sign({ secret, body });
      expect((await receive({ headers, body })).outcome.outcome).toBe('ignored');
    }
  });

  it('signs with the first one', async () => {
    const headers = await sign({ secret: `${SECRET},${OTHER}`, body });
    const { secretId } = await verify({ headers, body }, { secret: [OTHER, SECRET] });
    expect(secretId).toBe(SECRET_ID);
  });
});

describe('a secret that is not usable is refused, and the message says why', () => {
  it.each([
    ['undefined', undefined, 'is undefined. Is the environment variable set?'],
    ['null', null, 'is not a string but null'],
    ['a number', 42, 'is not a string but a value of the type number'],
    ['an object', {}, 'is not a string but a value of the type object'],
    [
      'bytes',
      Buffer.from(SECRET),
      "is bytes, not text. Pass the text that begins with whsec_. If it was read from a file, read it as text: readFileSync(path, 'utf8').",
    ],
    ['a Uint8Array in a list', [SECRET, new Uint8Array(24)], 'at position 2 of the list is bytes'],
    ['an ArrayBuffer', new ArrayBuffer(24), 'is bytes, not text'],
    ['named bytes', { id: 'calls', secret: Buffer.alloc(24) }, '"calls" is bytes'],
    [
      'a promise',
      Promise.resolve(SECRET),
      'is a promise, not text. Await it first, or pass a function',
    ],
    ['a promise in a list', [Promise.resolve(SECRET)], 'is a promise'],
    ['a named promise', [{ id: 'calls', secret: Promise.resolve(SECRET) }], '"calls" is a promise'],
    ['a function in a list', [SECRET, () => SECRET], 'at position 2 of the list is a function'],
    [
      'a named variable that is unset',
      [{ id: 'calls', secret: undefined }],
      '"calls" is undefined. Is the environment variable set?',
    ],
    ['empty', '', 'is empty. Is the environment variable set?'],
    ['white space alone', ' \n', 'is empty. Is the environment variable set?'],
    ['a comma alone', ',', 'is empty. Is the environment variable set?'],
    ['a name apart', `NAME = ${SECRET}`, '(number 1 in its text) does not start with whsec_'],
    ['no prefix', SECRET.slice(6), 'does not start with whsec_'],
    ['another case of the prefix', SECRET.replace('whsec_', 'WHSEC_'), 'does not start with'],
    ['nothing after the prefix', 'whsec_', 'nothing after'],
    ['not base64', 'whsec_!!!!not-base64!!!!aaaaaaaa', 'contains the character U+0021 (!)'],
    ['base64url with -', 'whsec_C2FVsBQIhrscChlQIMV-b5sSYspob7oD', 'is base64url'],
    ['base64url with _', 'whsec_C2FVsBQIhrscChlQIMV_b5sSYspob7oD', 'is base64url'],
    ['base64url with padding', 'whsec_C2FVsBQIhrscChlQIMV_b5sSYspob7-7_w==', 'is base64url'],
    ['two in one', SECRET + OTHER, 'is followed by another secret'],
    ['a semicolon between two', `${SECRET};${OTHER}`, 'contains the character U+003B (;)'],
    ['a semicolon after it', `${SECRET};`, 'contains the character U+003B (;)'],
    ['truncated', SECRET.slice(0, -3), 'truncated'],
    ['wrong padding', `${SECRET}==`, 'truncated'],
    ['15 bytes', `whsec_${Buffer.alloc(15).toString('base64')}`, 'too short: it has 15 bytes'],
    ['an empty list', [], 'is empty'],
    ['an empty id', [{ id: '', secret: SECRET }], 'must be { id, secret }'],
    ['no id', [{ secret: SECRET }], 'must be { id, secret }'],
    ['a named non-secret', [{ id: 'a', secret: 'nope' }], 'whsec_'],
    ['undefined in a list', [SECRET, undefined], 'at position 2 of the list is undefined'],
    ['an empty text in a list', ['', SECRET], 'at position 1 of the list is empty'],
    ['null in a list', [SECRET, null], 'at position 2 of the list is not a string but null'],
    ['a bad one in a list', [SECRET, 'nope'], 'at position 2 of the list does not start with'],
    ['a bad one in a text', `${SECRET},nope`, '(number 2 in its text) does not start with'],
  ])('%s', (_name, secret, message) => {
    const said = refused(secret);
    expect(said).toContain(message);
    for (const text of [secret].flat())
      if (typeof text === 'string' && text.length > 20)
        expect(said).not.toContain(text.slice(8, 20));
  });

  it('a promise that rejects', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    try {
      expect(refused(Promise.reject(new Error('no')))).toContain('is a promise, not text');
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  const has = (code: string) => `contains the character U+${code}`;
  it.each([
    [`"${SECRET}"`, has('0022')],
    [`'${SECRET}'`, has('0027')],
    [`“${SECRET}”`, has('201C')],
    [`"${SECRET}","${OTHER}"`, has('0022')],
    [`["${SECRET}"]`, has('005B')],
    [`CALL_WEBHOOK_SECRET=${SECRET}`, 'has something in front of whsec_'],
    [`$env:CALL_WEBHOOK_SECRET=${SECRET}`, has('0024')],
    [`A=${SECRET}\nB=${OTHER}`, '(number 1 in its text) has something in front of whsec_'],
    [`{"secret": "${SECRET}"}`, has('007B')],
    [`\uFEFF${SECRET}`, has('FEFF')],
    [`${SECRET}\u200B`, has('200B')],
    [`${SECRET}\u00A0${OTHER}`, has('00A0')],
    [`${SECRET.slice(0, 20)}\u00AD${SECRET.slice(20)}`, has('00AD')],
    [`${SECRET}\u0000`, has('0000')],
    [`${SECRET}\\n`, has('005C')],
    [`${SECRET}\\n${OTHER}`, has('005C')],
  ])('%j', (text, message) => {
    for (const secret of [text, [text], [{ id: 'a', secret: text }]]) {
      const said = refused(secret);
      expect(said).toContain(message);
      expect(said).toContain('Keep only whsec_ and the base64 text after it');
      for (const one of [SECRET, OTHER]) expect(said).not.toContain(one.slice(8, 20));
    }
  });

  it('a provider that returns one is answered 503, with the same words', async () => {
    const warned: unknown[] = [];
    const log = (...line: unknown[]) => void warned.push(line.at(-1));
    const { receive } = createReceiver({
      secret: () => [SECRET, undefined],
      logger: { warn: log, error: log },
    });
    const headers = await sign({ secret: SECRET, body });
    expect((await receive({ headers, body })).outcome.outcome).toBe('secret-unavailable');
    expect(warned).toEqual([expect.stringContaining('at position 2 of the list is undefined')]);
  });
});

it('a list may have variables, which TypeScript knows as perhaps undefined', () => {
  const secret = [process.env['A'], process.env['B']];
  expect(() => createReceiver({ secret })).toThrow('at position 1 of the list is undefined');
});

it('every secret of 16 bytes and more is taken, with and without padding', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 16, maxLength: 80 }), async (raw) => {
      const padded = `whsec_${Buffer.from(raw).toString('base64')}`;
      const bare = padded.replace(/=+$/, '');
      expect(await idsOf([padded], bare)).toEqual([idOf(padded)]);
      expect(await idsOf([bare], padded)).toEqual([idOf(padded)]);
    }),
    { seed: SEED },
  );
});

describe('generateSecret', () => {
  it('makes secrets of the given size, all different', () => {
    const bytesOf = (secret: string) => Buffer.from(secret.slice(6), 'base64');
    expect(bytesOf(generateSecret())).toHaveLength(24);
    for (const size of [16, 17, 64, 1024]) expect(bytesOf(generateSecret(size))).toHaveLength(size);
    expect(new Set(Array.from({ length: 100 }, () => generateSecret())).size).toBe(100);
  });

  it.each([15, 1025, 24.5, NaN, -1])('refuses a size of %p', (size) => {
    const { code, message } = thrown(() => generateSecret(size));
    expect(code).toBe('invalid-secret');
    expect(message).toContain(`A secret must have 16 to 1024 bytes, not ${String(size)}.`);
  });
});

describe('prepared keys', () => {
  it('are named by their fingerprint unless they have an id, also after a rotation', async () => {
    const secret = [SECRET, { id: 'new', secret: OTHER }, THIRD];
    expect(await idsOf(secret, SECRET, OTHER, THIRD)).toEqual([SECRET_ID, 'new', idOf(THIRD)]);
    expect(await idsOf([THIRD, SECRET], SECRET, THIRD)).toEqual([SECRET_ID, idOf(THIRD)]);
    expect(await idsOf(SECRET, SECRET)).toEqual([SECRET_ID]);
  });

  it('with the same id are told apart by their fingerprints', async () => {
    const two = [
      { id: 'calls', secret: SECRET },
      { id: 'recordings', secret: THIRD },
      { id: 'calls', secret: OTHER },
    ];
    const ids = [idOf(SECRET, 'calls'), 'recordings', idOf(OTHER, 'calls')];
    expect(await idsOf(two, SECRET, THIRD, OTHER)).toEqual(ids);
    expect(await idsOf(two.slice(1), THIRD, OTHER)).toEqual(['recordings', 'calls']);
    for (const secret of [two, () => two]) {
      const receiver = createReceiver({ secret });
      expect((await receiver.health()).secretIds).toEqual(ids);
      await receiver.close();
    }
  });

  it('have no name that the fingerprint of another may be', () => {
    const secret = [SECRET, { id: SECRET_ID, secret: OTHER }];
    const { code, message } = thrown(() => createReceiver({ secret }));
    expect(code).toBe('invalid-secret');
    expect(message).toContain(`A named secret cannot have the id "${SECRET_ID}"`);
  });

  it('are kept between two calls of verify', async () => {
    const secret = generateSecret();
    const prepare = jest.spyOn(crypto, 'createSecretKey');
    await idsOf(secret, secret);
    await idsOf([secret], secret);
    await idsOf([{ id: 'calls', secret }], secret);
    expect(prepare).toHaveBeenCalledTimes(1);
    prepare.mockRestore();
  });

  it('are kept, 64 at most', () => {
    const prepare = jest.spyOn(crypto, 'createSecretKey');
    const newSecret = () => generateSecret();
    const timesPrepared = (secret: string[]) => {
      prepare.mockClear();
      createReceiver({ secret });
      return prepare.mock.calls.length;
    };
    const first = newSecret();
    expect(timesPrepared([first])).toBe(1);
    expect(timesPrepared([first])).toBe(0);
    expect(timesPrepared(Array.from({ length: 64 }, newSecret))).toBe(64);
    expect(timesPrepared([first])).toBe(1);
    const many = Array.from({ length: 60 }, newSecret);
    timesPrepared(many); // which may have emptied the cache on the way
    timesPrepared(many);
    expect(timesPrepared(many)).toBe(0);
    prepare.mockRestore();
  });

  it('serve more secrets than are kept', async () => {
    const many = Array.from({ length: 200 }, () => generateSecret());
    expect(await idsOf(many, many[0] ?? '', many[199] ?? '')).toEqual(
      [many[0], many[199]].map((one = '') => idOf(one)),
    );
  });
});
