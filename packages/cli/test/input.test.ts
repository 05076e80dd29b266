import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { didYouMean } from '../src/input/options.ts';
import { setFields } from '../src/input/fields.ts';
import { headerRecord, probabilities, wholeNumber } from '../src/input/options.ts';
import {
  formatSecretFile,
  givenSecrets,
  parseSecretFile,
  writeSecretFile,
} from '../src/input/secrets.ts';
import { targetUrl } from '../src/input/target.ts';
import { milliseconds, time } from '../src/input/time.ts';
import { SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

describe('--set', () => {
  test('values are JSON, or else text', () => {
    const set = setFields({ a: 1, from: { label: 'x', number: 1 } }, [
      'a=null',
      'name=Ada',
      'from.label=main',
      'list=[1]',
      'eq=a=b',
    ]);
    expect(set).toEqual({
      a: null,
      name: 'Ada',
      from: { label: 'main', number: 1 },
      list: [1],
      eq: 'a=b',
    });
  });

  test('neither the given object nor a prototype is changed', () => {
    const given = { from: { label: 'x' } };
    setFields(given, ['from.label=y', '__proto__.polluted=1', 'constructor.prototype.polluted=1']);
    expect(given).toEqual({ from: { label: 'x' } });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each(['a', '=1', 'a..b=1', '.=1'])('%s is refused', (pair) => {
    expect(() => setFields({}, [pair])).toThrow('path=value');
  });

  test('a text has no fields', () => {
    expect(() => setFields({ a: 'x' }, ['a.b=1'])).toThrow('a is not an object');
  });
});

describe('URLs', () => {
  test.each([
    ['http://127.0.0.1:3000/hook', 'http://127.0.0.1:3000/hook'],
    ['3000/hook', 'http://127.0.0.1:3000/hook'],
    ['3000', 'http://127.0.0.1:3000/'],
    ['localhost:3000/hook?a=1#b', 'http://localhost:3000/hook?a=1'],
    ['[::1]:3000/hook', 'http://[::1]:3000/hook'],
  ])('%s is understood', (given, url) => {
    expect(targetUrl(given)).toBe(url);
  });

  test.each(['ftp://127.0.0.1/', 'hook', '', 'http://user:pass@127.0.0.1/'])(
    '%s is refused',
    (given) => {
      expect(() => targetUrl(given)).toThrow();
    },
  );

  test.each([
    'https://example.com/hook',
    'example.com:80/hook',
    'http://127.0.0.1.example.com/',
    'http://10.0.0.1/',
  ])('%s needs --allow-external', (given) => {
    expect(() => targetUrl(given)).toThrow('not this machine');
    expect(targetUrl(given, true)).toMatch(/^http/);
  });
});

describe('numbers, durations and probabilities', () => {
  test('durations need their unit', () => {
    expect(milliseconds('1.5h')).toBe(5_400_000);
    expect(() => milliseconds('5')).toThrow('5 has no unit');
    expect(() => milliseconds('36526d')).toThrow('not a duration from 0s to 36525d');
  });

  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00:05Z', '2026-01-31T12:00:05.000Z'],
    ['2026-01-31t12:00:05.25+02:00', '2026-01-31T10:00:05.250Z'],
    ['2026-01-31T23:30:00-0130', '2026-02-01T01:00:00.000Z'],
    ['2024-02-29T00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('the time %s is %s', (given, iso) => {
    expect(time(given).toISOString()).toBe(iso);
  });

  test.each(['90m', ' 2h ', '3d', '0s', '1.5 h'])('%s is that long ago', (given) => {
    const ago = Date.now() - time(given).getTime();
    expect(Math.abs(ago - milliseconds(given))).toBeLessThan(60_000);
  });

  // An engine reads most of these as some day: "5" as May 2001, "12" as December, "60" as 1960.
  test.each([
    '5',
    '12',
    '60',
    '0',
    '2026',
    '20260131',
    '1769860800',
    '1.5',
    '-5',
    '5 ',
    '01/02/2026',
  ])('the time %s is refused', (given) => {
    expect(() => time(given)).toThrow(/has no unit|neither a time nor a duration/);
  });

  test.each([
    '2026-02-30',
    '2026-13-01',
    '2026-01-31T25:00',
    '2026-01-31T12',
    'May 5',
    '2h ago',
    '',
    '5y',
    '-2h',
    '2026-01-31T12:00 GMT',
  ])('the time %s is refused, too', (given) => {
    expect(() => time(given)).toThrow('neither a time nor a duration');
  });

  test('whole numbers have their range', () => {
    expect(wholeNumber('--port', 0, 65_535)('80')).toBe(80);
    for (const given of ['65536', '-1', '1e3', '', '0x10'])
      expect(() => wholeNumber('--port', 0, 65_535)(given)).toThrow('--port');
  });

  test('probabilities have three forms', () => {
    expect(probabilities(['duplicate=.2', 'replay=50%', 'reorder'])).toEqual({
      duplicate: 0.2,
      replay: 0.5,
      reorder: 1,
    });
    expect(() => probabilities(['duplicate=often'])).toThrow('mode=probability');
  });
});

describe('secret files', () => {
  test('one per line, with comments, also from an .env file', () => {
    const until = '2026-01-02T03:04:05.000Z';
    const content = `# ours\n${SECRET}\r\n\nCALL_WEBHOOK_SECRET="${SECRET}"\n${SECRET} # until ${until}\n`;
    const parsed = parseSecretFile(content, 'f');
    expect(parsed).toEqual([
      { secret: SECRET },
      { secret: SECRET, variable: 'CALL_WEBHOOK_SECRET' },
      { secret: SECRET, expiresAt: Date.parse(until) },
    ]);
    const plain = parsed.map(({ variable: _, ...one }) => ({ ...one, actionId: 'a1' }));
    expect(parseSecretFile(formatSecretFile(plain), 'f')).toEqual(plain);
  });

  test('several in one line, and in a variable', () => {
    const other = 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=';
    const both = [SECRET, other];
    for (const line of [
      `${SECRET},${other}`,
      `A="${SECRET}, ${other}" # both`,
      `${both.join(' ')} `,
    ])
      expect(parseSecretFile(`\uFEFF${line}\n`, 'f').map(({ secret }) => secret)).toEqual(both);
  });

  test('of an .env file, the other variables are ignored, also those with secrets of other services', () => {
    const other = 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=';
    const content = `PORT=3000\nSTRIPE_SECRET=${other}\nexport CALL_WEBHOOK_SECRET=${SECRET}\n`;
    expect(parseSecretFile(content, 'f').map(({ secret }) => secret)).toEqual([SECRET]);
    expect(parseSecretFile(`${other}\n${content}`, 'f')).toHaveLength(2);
    expect(() => parseSecretFile(`PORT=3000\n${SECRET}`, 'f')).toThrow('Line 1 of f');
    const empty = `CALL_WEBHOOK_SECRET=${SECRET}\nRECORDING_WEBHOOK_SECRET=\n`;
    expect(parseSecretFile(empty, 'f')).toHaveLength(1);
    expect(() => parseSecretFile('CALL_WEBHOOK_SECRET=\n', 'f')).toThrow('no secret in f');
  });

  test('an error names the line, and never what stands in it', () => {
    expect(() => parseSecretFile(`${SECRET}\nhunter2 ${SECRET}`, 'f')).toThrow(
      /^Line 2 of f is not a signing secret\.$/,
    );
    expect(() => parseSecretFile('', 'f')).toThrow('There is no secret in f');
  });

  test.each(['until tomorrow', 'until 31.1.2026', 'until 2026-02-30', 'old, until', 'until: 5'])(
    'an end that nobody can read is refused: # %s',
    (comment) => {
      expect(() => parseSecretFile(`\n${SECRET} # ${comment}\n`, 'f')).toThrow(
        'Line 2 of f has no valid time after "until".',
      );
    },
  );

  test('a secret verifies until its end, and not from then on', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const folder = mkdtempSync(join(tmpdir(), 'cli-'));
    const secretFile = join(folder, 'secrets');
    const other = 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=';
    const end = Date.parse('2026-01-02T03:04:05Z');
    await writeSecretFile(secretFile, `${other}\n${SECRET} # until 2026-01-02T03:04:05Z\n`);
    const given = () => givenSecrets({ env: {} } as never, { secretFile });
    jest.setSystemTime(end - 1);
    expect(await given()).toEqual([other, SECRET]);
    jest.setSystemTime(end);
    expect(await given()).toEqual([other]);
    jest.useRealTimers();
    rmSync(folder, { recursive: true });
  });

  test('only the owner may read the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cli-'));
    const path = join(folder, 'secrets');
    await writeSecretFile(path, `${SECRET}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(`${SECRET}\n`);
    await expect(writeSecretFile(join(folder, 'no/where'), SECRET)).rejects.toMatchObject({
      exitCode: 3,
    });
    rmSync(folder, { recursive: true });
  });
});

describe('standard input that never ends', () => {
  const secret = ['--secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
  test.each([
    [['infer', '-']],
    [['sign', ...secret]],
    [['verify', '--header', 'X-A: b', ...secret]],
    [['send', 'call:started', '--data', '-', '--to', '1/hook', ...secret]],
    [['send', 'call:started', '--data', '-', '--set', 'a=1', '--to', '1/hook', ...secret]],
    [['erase', '--contains', '-', '--dry-run', '--store', 'sqlite:no-such-file']],
    [['dead-letters', 'list', '--contains', '-', '--store', 'sqlite:no-such-file']],
  ])('is given up at Ctrl-C, while it is read or before: %j', async (argv) => {
    for (const isEarly of [false, true]) {
      const running = start(argv, { silent: true });
      if (!isEarly) await running.reading;
      running.stop();
      expect([await running.code, running.stdout(), running.stderr()]).toEqual([130, '', '']);
    }
  });
});

describe('the rest', () => {
  test.each([
    ['call:complete', 'Did you mean call:completed?'],
    ['completed', 'Did you mean call:completed?'],
    ['triger', 'Did you mean trigger?'],
    ['mc', 'Did you mean mcp?'],
    ['xyz', 'See the list.'],
  ])('%s: %s', (given, suggestion) => {
    const names = ['call:started', 'call:completed', 'trigger', 'mcp'];
    expect(didYouMean(given, names, 'See the list.')).toBe(suggestion);
  });

  test.each(['sign', 'verify'])('%s reads UTF-16, as PowerShell writes it', async (command) => {
    const folder = mkdtempSync(join(tmpdir(), 'cli-utf16-'));
    const save = (name: string, text: string) => {
      writeFileSync(join(folder, name), Buffer.from(`\ufeff${text}`, 'utf16le'));
      return join(folder, name);
    };
    const secret = ['--secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
    const fixed = ['--webhook-id', 'a', '--timestamp', '1800000000', ...secret];
    const body = '{"callId":"Zoë"}';
    const signed = await run(['sign', '--data', body, ...fixed]);
    const data = `@${save('body', body)}`;
    if (command === 'sign')
      expect((await run(['sign', '--data', data, ...fixed])).stdout).toBe(signed.stdout);
    else {
      const headers = save('headers', signed.stdout);
      const argv = ['--headers', headers, '--data', data, '--tolerance', '100000000', ...secret];
      expect((await run(['verify', ...argv])).code).toBe(0);
    }
    rmSync(folder, { recursive: true });
  });

  test('headers, one per line', () => {
    expect(headerRecord(['X-A: b:c', 'X-Empty:'])).toEqual({ 'X-A': 'b:c', 'X-Empty': '' });
    expect(() => headerRecord(['X-A: b\r\nX-Evil: 1'])).toThrow('Invalid header');
    expect(() => headerRecord(['nothing'])).toThrow('Invalid header');
  });
});
