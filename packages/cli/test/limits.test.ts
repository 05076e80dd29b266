import { describe, expect, test } from '@jest/globals';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// Every flag that is a number or a duration: what it takes at its limits, and what is told beyond them.

const NOBODY = ['--base-url', 'http://127.0.0.1:2', '--api-token', 't'];
const TO = ['--to', 'no url'];
/** Where a command ends that takes its flags: nobody is there, or another argument is wrong. */
const NO_URL = 'error: Invalid URL: no url';
const NO_SIMULATOR = 'error: No simulator is running at http://127.0.0.1:1 ';
const NO_FILE = 'error: There is no file no-such.';
const STORE = ['--store', 'sqlite:no-such'];
const CUT = 'error: The signing secret is too short';
const SHORT = ['--secret', 'whsec_abc'];

type Row = readonly [
  command: string,
  more: readonly string[],
  flag: string,
  min: number,
  max: number,
  then: string,
];
const NUMBERS: readonly Row[] = [
  ['send x --data {}', TO, '--timestamp', 1, Number.MAX_SAFE_INTEGER, NO_URL],
  ['sign --data {}', SHORT, '--timestamp', 1, Number.MAX_SAFE_INTEGER, CUT],
  [
    'verify -H a:b',
    ['--data', '@no-such'],
    '--tolerance',
    0,
    315_360_000,
    'error: Cannot read the body no-such: ENOENT.',
  ],
  ['listen', ['--forward-to', 'no url'], '--port', 0, 65_535, NO_URL],
  ['listen', ['--forward-to', 'no url'], '-p', 0, 65_535, NO_URL],
  ['listen', ['--forward-to', 'no url'], '--tolerance', 0, 86_400, NO_URL],
  ['listen', ['--forward-to', 'no url'], '--respond', 200, 599, NO_URL],
  ['simulate', ['--forward-to', 'no url'], '--port', 0, 65_535, NO_URL],
  ['simulate', ['--forward-to', 'no url'], '--max-attempts', 1, 1_000, NO_URL],
  ['events list', [], '--limit', 1, 1_000_000, NO_SIMULATOR],
  ['trigger call', [], '--count', 1, 10_000, NO_SIMULATOR],
  [
    'calls --next',
    ['', ...NOBODY],
    '--limit',
    1,
    100_000,
    'error: next must be the cursor of a page, unchanged',
  ],
  [
    'activity --next',
    ['', ...NOBODY],
    '--limit',
    1,
    100_000,
    'error: next must be the cursor of a page, unchanged',
  ],
  ['dead-letters list', STORE, '--limit', 1, 1_000_000, NO_FILE],
  ['dead-letters redrive --all', TO, '--concurrency', 1, 100, NO_URL],
  [
    'reconcile --since 1h --simulator',
    ['no'],
    '--concurrency',
    1,
    100,
    'error: No receiver is given.',
  ],
];

const firstLine = async (argv: readonly string[]) => {
  const given = { env: { CALL_WEBHOOK_SECRET: SECRET }, columns: 1_000 };
  const { code, stdout, stderr } = await run(argv, given);
  const [error = '', fix = ''] = stderr.split('\n');
  return { code, stdout, error, fix };
};

describe.each(NUMBERS)('%s %j %s', (command, more, flag, min, max, then) => {
  const given = (value: string) => [...command.split(' '), ...more, flag, value];
  const long = flag === '-p' ? '--port' : flag;

  test.each([min, max])('takes %d', async (value) => {
    const { error } = await firstLine(given(String(value)));
    expect(error.slice(0, then.length)).toBe(then);
  });

  test.each([String(min - 1), String(max + 1), `${min}.5`, '1e3', '0x10', '', ' 5', 'five'])(
    'refuses %j',
    async (value) => {
      const range =
        max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
      expect(await firstLine(given(value))).toEqual({
        ...{ code: 2, stdout: '', fix: `fix:   Example: ${long} ${min}` },
        error: `error: ${long} must be a whole number ${range}, not ${value}.`,
      });
    },
  );
});

const DAYS_OF_A_TIMER = 24;
describe.each<[command: string, more: readonly string[], flag: string, days: number, then: string]>(
  [
    ['send x --data {}', TO, '--timeout', DAYS_OF_A_TIMER, NO_URL],
    ['check', TO, '--timeout', DAYS_OF_A_TIMER, NO_URL],
    ['check', TO, '--effects-within', DAYS_OF_A_TIMER, NO_URL],
    ['trigger call', [], '--timeout', DAYS_OF_A_TIMER, NO_SIMULATOR],
    ['dead-letters redrive --all', TO, '--timeout', DAYS_OF_A_TIMER, NO_URL],
    ['reconcile --since 1h', [], '--timeout', DAYS_OF_A_TIMER, 'error: No receiver is given.'],
    ['reconcile --since 1h', [], '--remember-for', 36_525, 'error: No receiver is given.'],
  ],
)('%s %j %s', (command, more, flag, days, then) => {
  const given = (value: string) => [...command.split(' '), ...more, flag, value];

  test.each(['1ms', '1.5s', `${days}d`])('takes %s', async (value) => {
    const { error } = await firstLine(given(value));
    expect(error.slice(0, then.length)).toBe(then);
  });

  test.each(['0s', '0.4ms', `${days + 1}d`])('refuses %s', async (value) => {
    const { code, stdout, error, fix } = await firstLine(given(value));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const isOther = days === 36_525 && value === '36526d';
    expect([error, fix]).toEqual(
      isOther
        ? [
            'error: 36526d is not a duration from 0s to 36525d.',
            'fix:   Examples: 250ms, 30s, 5m, 1.5h, 2d',
          ]
        : [`error: ${flag} ${value} is not from 1ms to ${days}d.`, `fix:   Example: ${flag} 30s`],
    );
  });
});
