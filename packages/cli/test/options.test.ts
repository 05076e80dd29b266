import { describe, expect, test } from '@jest/globals';
import type { Command, Option } from 'commander';
import { App } from '../src/app.ts';
import { program } from '../src/program.ts';

// What every command takes: its arguments and options, the choices and defaults of each, and the bounds of numbers.

const root = await program(new App({ stdout: {}, stderr: {}, env: {} } as never));

const SIMULATOR = ['--simulator <url>'];
const SECRETS = ['--secret <whsec>', '--secret-file <file>'];
const RECEIVER = ['--allow-external', '-k, --insecure'];
const PREFIX = '--header-prefix <prefix>';
const FIELDS = '--field-name <name=field>';
const STORE = ['--store <url>', '--prefix <name>'];
const SERVICE = [
  ...['--simulator <url>', '--base-url <url>', '--api-token <token>'],
  ...['--api-token-file <file>', '--wire <name=value>'],
];
const TARGET = [PREFIX, '--timeout <duration> = 31000', ...SECRETS, ...RECEIVER];
const FILTER = [
  ...['--event <name>', '--reason <reason> of handler-failed|invalid-payload'],
  ...['--contains <file>', '--cause <id>', '--since <time>', '--until <time>', '--tenant <name>'],
];
const LIST = ['--all', '-n, --limit <number>', '--next <cursor>'];
const DOCTOR = [
  ...[FIELDS, ...SECRETS, ...RECEIVER, ...SERVICE, ...STORE],
  ...['--to <url>', PREFIX, '--tenant <name>', '--capture <file>', '--timeout <duration> = 10000'],
];

/** In the order of the help. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  simulate: [
    ...['-f, --forward-to <url>', '-p, --port <number>', '--clock <mode> of real|manual = real'],
    ...['--timestamps <mode> of wall|clock', '--seed <text>', '--retry-every <duration>'],
    ...['--max-attempts <number>', '--while-paused <mode> of drop|hold'],
    ...['--chaos <mode=probability>', PREFIX, '--api-token <token>', FIELDS, ...SECRETS],
    ...['--allow-external', '--shared-secret', '--secret-out <file>'],
  ],
  trigger: [
    ...['[event|scenario]', '--set <path=json>', '-n, --count <number>', '-w, --wait'],
    ...['--retries', '--timeout <duration> = 60000', FIELDS, ...SIMULATOR],
  ],
  'events list': [
    ...SIMULATOR,
    '--state <state> of waiting|in-flight|acknowledged|failed|dropped|held',
    ...['--event <name>', '--call <id>', '--rule <id>', '-n, --limit <number> = 50'],
  ],
  'events show': ['<id>', ...SIMULATOR],
  'events tail': SIMULATOR,
  resend: ['<id>', ...SIMULATOR],
  'clock show': SIMULATOR,
  'clock advance': ['<duration>', ...SIMULATOR],
  'clock next': SIMULATOR,
  'clock run': SIMULATOR,
  'chaos show': SIMULATOR,
  'chaos set': ['[mode=probability...]', ...SIMULATOR, '--all <probability>'],
  'chaos off': SIMULATOR,
  'rules list': [...SIMULATOR, '--show-secret'],
  'rules create': [
    ...['--url <url> (needed)', '--trigger <event>', '--payload <json|@file|->', '--unsigned'],
    ...['--show-secret', ...SECRETS, ...SIMULATOR],
  ],
  'rules remove': ['<rule>', ...SIMULATOR],
  'rules pause': ['<rule>', ...SIMULATOR],
  'rules resume': ['<rule>', ...SIMULATOR],
  send: [
    ...['<event>', '--to <url> (needed)', '-d, --data <text|@file|->', '--set <path=json>'],
    ...['--curl', '-H, --header <header>', PREFIX, '--webhook-id <id>', '--timestamp <seconds>'],
    ...['--timeout <duration> = 30000', ...SECRETS, ...RECEIVER],
  ],
  listen: [
    ...['-p, --port <number> = 3000', '--host <address> = 127.0.0.1', '-f, --forward-to <url>'],
    ...['--respond <status>', '--no-verify', '--learn', '--no-body', PREFIX],
    ...['--tolerance <seconds> = 300', ...SECRETS, ...RECEIVER],
  ],
  check: [
    ...['--to <url>', FIELDS, ...SECRETS, ...RECEIVER, PREFIX, '--timeout <duration> = 30000'],
    ...['--deep', '--only <checks>', '--run-handlers', '--effects <url>'],
    ...['--effects-within <duration> = 10000', '--junit <file>'],
  ],
  sign: [
    ...['-d, --data <text|@file|-> = -', PREFIX, '--webhook-id <id>', '--timestamp <seconds>'],
    ...SECRETS,
  ],
  verify: [
    ...['-d, --data <text|@file|-> = -', '-H, --header <header>', '--headers <file>', PREFIX],
    ...['--tolerance <seconds> = 300', ...SECRETS],
  ],
  explain: ['[outcome]'],
  infer: ['<file...>'],
  status: [...STORE, '--tenant <name>', '--expect <event>', '--urgent'],
  doctor: DOCTOR,
  mcp: [...DOCTOR, '--allow-writes'],
  'dead-letters list': [...STORE, ...FILTER, '-n, --limit <number> = 50'],
  'dead-letters causes': [...STORE, ...FILTER],
  'dead-letters show': ['<id>', ...STORE, '--reveal'],
  'dead-letters redrive': [
    ...['[id...]', '--to <url> (needed)', '--all', '--concurrency <number> = 1'],
    ...[...FILTER, ...STORE, ...TARGET],
  ],
  'dead-letters remove': ['<id...>', ...STORE, '-y, --yes'],
  erase: [
    ...[...STORE, '--contains <file>', '--call <id...>', '--tenant <name>'],
    ...['--all-tenants = false', '--before <time>', '--queue <name>', '--no-queue'],
    ...['--queue-prefix <name>', '--lose-waiting = false', '--forget-keys = false'],
    ...['--dry-run = false', '--by <name>', '-y, --yes = false'],
  ],
  reconcile: [
    ...['--since <time> (needed)', '--until <time>', '--to <url>', '--dry-run'],
    ...['--tenant <name>', '--remember-for <duration> = 86400000', '--recordings', FIELDS],
    ...['--concurrency <number> = 4', ...STORE, ...SERVICE, ...TARGET],
  ],
  activity: ['[search...]', ...SERVICE, ...LIST],
  calls: [...SERVICE, ...LIST],
  recording: ['<callId>', ...SERVICE, '-o, --output <file>', '--force'],
  rotate: [
    '<ruleId>',
    '<actionId>',
    '-o, --secret-out <file>',
    '--show-secret',
    '-y, --yes',
    ...SERVICE,
  ],
};

const leaves = (command: Command, path = ''): [name: string, command: Command][] =>
  command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`.trim();
    return one.commands.length > 0 ? leaves(one, name) : [[name, one]];
  });
const COMMANDS = new Map(leaves(root));

const shownOption = ({ flags, mandatory, argChoices, defaultValue }: Option) =>
  [
    flags,
    ...(mandatory ? ['(needed)'] : []),
    ...(argChoices ? [`of ${argChoices.join('|')}`] : []),
    // That of --no-body is that there is a body.
    ...(defaultValue === undefined || flags.startsWith('--no-')
      ? []
      : [`= ${String(defaultValue)}`]),
  ].join(' ');

test('every command takes these arguments and options, with these choices and defaults', () => {
  const taken = [...COMMANDS].map(([name, { registeredArguments, options }]) => [
    name,
    [
      ...registeredArguments.map((one) => {
        const words = `${one.name()}${one.variadic ? '...' : ''}`;
        return one.required ? `<${words}>` : `[${words}]`;
      }),
      ...options.map(shownOption),
    ],
  ]);
  expect(Object.fromEntries(taken)).toEqual(TAKEN);
});

const parse = (name: string, flag: string, given: string): unknown => {
  const { options = [] } = COMMANDS.get(name) ?? {};
  const option = options.find(({ long }) => long === flag);
  const read = option?.parseArg as ((given: string, before?: unknown) => unknown) | undefined;
  return read?.(given);
};

const MOST = Number.MAX_SAFE_INTEGER;
const DAY = 86_400_000;
const TIMER = 2_147_483_647;

describe('the bounds of a number', () => {
  test.each<[command: string, flag: string, min: number, max: number]>([
    ['simulate', '--port', 0, 65_535],
    ['simulate', '--max-attempts', 1, 1_000],
    ['events list', '--limit', 1, 1_000_000],
    ['trigger', '--count', 1, 10_000],
    ['listen', '--port', 0, 65_535],
    ['listen', '--tolerance', 0, 86_400],
    ['send', '--timestamp', 1, MOST],
    ['sign', '--timestamp', 1, MOST],
    ['verify', '--tolerance', 0, 86_400 * 3_650],
    ['dead-letters list', '--limit', 1, 1_000_000],
    ['dead-letters redrive', '--concurrency', 1, 100],
    ['reconcile', '--concurrency', 1, 100],
    ['activity', '--limit', 1, 100_000],
    ['calls', '--limit', 1, 100_000],
  ])('%s %s is from %d to %d', (name, flag, min, max) => {
    const range = max === MOST ? `of at least ${min}` : `from ${min} to ${max}`;
    for (const within of [min, max]) expect(parse(name, flag, String(within))).toBe(within);
    for (const beyond of [String(min - 1), String(max + 1), `${min}.5`, '', 'x'])
      expect(() => parse(name, flag, beyond)).toThrow(
        `${flag} must be a whole number ${range}, not ${beyond}.`,
      );
  });

  test.each<[command: string, flag: string, max: number, days: number]>([
    ['trigger', '--timeout', TIMER, 24],
    ['send', '--timeout', TIMER, 24],
    ['check', '--timeout', TIMER, 24],
    ['check', '--effects-within', TIMER, 24],
    ['doctor', '--timeout', TIMER, 24],
    ['mcp', '--timeout', TIMER, 24],
    ['dead-letters redrive', '--timeout', TIMER, 24],
    ['reconcile', '--timeout', TIMER, 24],
    ['reconcile', '--remember-for', 36_525 * DAY, 36_525],
  ])('%s %s is a duration from 1 ms to %d ms', (name, flag, max, days) => {
    for (const within of [1, max]) expect(parse(name, flag, `${within}ms`)).toBe(within);
    expect(() => parse(name, flag, '0ms')).toThrow(`${flag} 0ms is not from 1ms to ${days}d.`);
    expect(() => parse(name, flag, `${max + 1}ms`)).toThrow(/is not (?:from 1ms|a duration)/);
    expect(() => parse(name, flag, '5')).toThrow('5 has no unit.');
  });

  test.each([200, 202, 299, 400, 403, 405, 409, 411, 500, 503, 599])(
    'listen responds with %d',
    (status) => {
      expect(parse('listen', '--respond', String(status))).toBe(status);
    },
  );
  test.each([199, 300, 302, 399, 404, 410, 600])(
    'listen does not respond with %d, which would pause the rule or lose the delivery',
    (status) => {
      expect(() => parse('listen', '--respond', String(status))).toThrow(/^--respond /);
    },
  );
});
