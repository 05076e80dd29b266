import { describe, expect, test } from '@jest/globals';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// What a person is told about each answer of the service or of a simulator that is not the usual one.

interface Answer {
  readonly status: number;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
}

/** Runs a command against a server that gives the same answer to everything. */
async function against(
  { status, body = '', headers = {} }: Answer,
  argv: readonly string[],
  more: Record<string, string> = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const server = await receiver(() => ({ status, headers, body: text }));
  const url = `http://127.0.0.1:${server.port}`;
  const service = { CALL_WEBHOOKS_BASE_URL: url, CALL_WEBHOOKS_API_TOKEN: 'token-1' };
  const env = argv[0] === 'service' ? service : { CALL_WEBHOOKS_SIMULATOR: url };
  const { code, stdout, stderr } = await run(argv.slice(1), {
    env: { ...env, ...more },
    columns: 1_000,
  });
  await server.close();
  const told = stderr.replaceAll(String(server.port), 'PORT');
  return { code, stdout, told, requests: server.received.map(({ url: path }) => path) };
}

const PATHS = {
  calls: 'GET /v1/calls',
  'recording 1': 'GET /v1/calls/1/recording',
  'rotate 1 2 --show-secret --yes': 'PATCH /v1/rules/1/actions/2',
};
const CHECK = 'Check the values that you passed. For all options, add --help to the command.';
const RETRY = 'Try again. If it keeps failing, ask the provider of the service.';
const UNSURE = (why: string) =>
  `The signing secret may have been rotated: ${why}. Check the action in the service, and rotate its secret to get a known one`;

describe.each(Object.entries(PATHS))('of the service, to %s', (command, path) => {
  const ask = (answer: Answer) => against(answer, ['service', ...command.split(' ')]);
  const error = (message: string, fix: string) => `error: ${message}\nfix:   ${fix}\n`;

  test.each<[status: number, body: object | string, code: number, detail: string, fix: string]>([
    [400, 'text', 2, '', CHECK],
    [400, { error: { message: 'no such field' } }, 2, ': no such field', CHECK],
    [400, { message: 'no such field' }, 2, ': no such field', CHECK],
    [400, { error: { message: 7 }, message: null }, 2, '', CHECK],
    [
      ...([401, '', 2, ': the API token is wrong or missing'] as const),
      'Set the right token: CALL_WEBHOOKS_API_TOKEN, --api-token-file or --api-token.',
    ],
    [403, '', 2, '', 'This API token is not allowed to do this. Use another token.'],
    [
      ...([404, '', 2, ''] as const),
      'Check that the id is complete, and that the base URL does not end with /v1.',
    ],
    [409, '', 2, '', CHECK],
    [422, { message: 'odd' }, 2, ': odd', CHECK],
    [429, '', 3, '', 'Wait a moment and try again.'],
  ])('%d with %j', async (status, body, code, detail, fix) => {
    // For longer than a person waits.
    const headers: Record<string, string> = status === 429 ? { 'retry-after': '999' } : {};
    expect(await ask({ status, body, headers })).toEqual({
      ...{ code, stdout: '', requests: [path.split(' ')[1]] },
      told: error(`${path} responded with status ${status}${detail}`, fix),
    });
  });

  test('503, which a request that only reads is sent again for', async () => {
    const { code, told, requests } = await ask({ status: 503, body: { message: 'down' } });
    const isWrite = path.startsWith('PATCH');
    const message = isWrite
      ? UNSURE('no complete response arrived')
      : `${path} responded with status 503: down`;
    expect([code, told, requests.length]).toEqual([3, error(message, RETRY), isWrite ? 1 : 4]);
  });

  test('a redirect to another machine, which is not followed', async () => {
    const headers = { location: 'http://example.com/' };
    const { code, told, requests } = await ask({ status: 302, headers });
    const message = path.startsWith('PATCH')
      ? UNSURE('no complete response arrived')
      : `${path}: a redirect was not followed, because its target is not https`;
    expect([code, told, requests.length]).toEqual([3, error(message, RETRY), 1]);
  });
});

test.each<[command: string, body: object | string, message: string, fix: string]>([
  ['calls', '<html>', 'GET /v1/calls: the response is not JSON', RETRY],
  [
    ...(['calls', { items: [{ _id: '1' }] }] as const),
    'GET /v1/calls: the response has no array "results" of records. Set wire.callsField to the field that holds them, perhaps "items"',
    'Pass --wire callsField=items',
  ],
  [
    ...(['calls', {}] as const),
    'GET /v1/calls: the response has no array "results" of records. Set wire.callsField to the field that holds them',
    'Pass --wire callsField=NAME',
  ],
  [
    ...(['calls', { results: [], hasNext: true, paging: { after: 'x' } }] as const),
    'GET /v1/calls: the next page cannot be requested: there is another page ("hasNext"), but the field "next" holds no cursor. Set wire.nextField to the field that holds the cursor, perhaps "paging.after"',
    'Pass --wire nextField=paging.after',
  ],
  [
    ...(['rotate 1 2 --show-secret --yes', { ok: true }] as const),
    ...([UNSURE('the response holds no "whsec_" string'), RETRY] as const),
  ],
])(
  'of the service, to %s: 200 with %j, which cannot be used',
  async (command, body, message, fix) => {
    expect(await against({ status: 200, body }, ['service', ...command.split(' ')])).toMatchObject({
      ...{ code: 3, stdout: '', told: `error: ${message}\nfix:   ${fix}\n` },
    });
  },
);

test('of the service, to a rotation, with two secrets: both are printed, since one of them is needed', async () => {
  const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  const argv = ['service', 'rotate', '1', '2', '--show-secret', '--yes'];
  expect(await against({ status: 200, body: { a: SECRET, b: other } }, argv)).toMatchObject({
    ...{ code: 3, stdout: '' },
    told: [
      ...[`a: ${SECRET}`, `b: ${other}`],
      'error: The secret was rotated, but the response contains several secrets: a, b.',
      'fix:   One of them will verify the next delivery. Next time, pass --wire secretField=PATH.\n',
    ].join('\n'),
  });
});

const LISTS = 'List what exists: npx call-webhooks rules list, npx call-webhooks events list';
const CORRECT = 'Correct this value. For all options, add --help to the command.';
const AGAIN =
  'Start the simulator again, and then run this command again. If it keeps failing, report it as a bug.';
const OTHER = [
  'The server at http://127.0.0.1:PORT is not a simulator.',
  'Pass the address of yours: --simulator http://127.0.0.1:PORT',
] as const;

describe.each(['events list', 'chaos off', 'clock advance 5s'])(
  'of a simulator, to %s',
  (command) => {
    test.each<[status: number, body: object | string, code: number, message: string, fix: string]>([
      [
        ...([400, { error: { code: 'external-target', message: 'No.' } }, 2, 'No.'] as const),
        'Start the simulator with --allow-external.',
      ],
      [404, { error: { code: 'not-found', message: 'No.' } }, 2, 'No.', LISTS],
      [409, { error: { code: 'conflict', message: 'No.' } }, 2, 'No.', LISTS],
      [
        ...([403, { error: { code: 'forbidden-host', message: 'No.' } }, 2, 'No.'] as const),
        'Pass its address with a number: --simulator http://127.0.0.1:PORT',
      ],
      [400, { error: { code: 'invalid-input', message: 'No.' } }, 2, 'No.', CORRECT],
      [413, { error: { code: 'bad-request', message: 'No.' } }, 2, 'No.', CORRECT],
      [499, { error: { code: 'new', message: 'No.' } }, 2, 'No.', CORRECT],
      [500, { error: { code: 'internal', message: 'No.' } }, 3, 'No.', AGAIN],
      // Whatever it calls its failure, no input is to blame.
      [500, { error: { code: 'not-found', message: 'No.' } }, 3, 'No.', AGAIN],
      [503, { error: { code: 'new', message: 'No.' } }, 3, 'No.', AGAIN],
      [500, '', 3, ...OTHER],
      [400, { error: { code: 'invalid' } }, 3, ...OTHER],
      [200, '<html>', 3, ...OTHER],
    ])('%d with %j', async (status, body, code, message, fix) => {
      const argv = ['simulator', ...command.split(' ')];
      expect(await against({ status, body }, argv)).toMatchObject({
        ...{ code, stdout: '', told: `error: ${message}\nfix:   ${fix}\n` },
      });
    });
  },
);

test.each([[''], ['1']])(
  'what nobody expected has a stack trace only with DEBUG=%j',
  async (DEBUG) => {
    // A rule without actions.
    const argv = ['simulator', 'rules', 'list'];
    const { code, told } = await against({ status: 200, body: [{ _id: 'a' }] }, argv, { DEBUG });
    const [message, fix, ...stack] = told.trimEnd().split('\n');
    expect([code, message, fix]).toEqual([
      ...[
        3,
        expect.stringMatching(/^error: Unexpected error: Cannot read properties of undefined/),
      ],
      'fix:   Set DEBUG=1 to see the stack trace.',
    ]);
    expect(stack.slice(1).every((line) => /^ +at /.test(line))).toBe(true);
    expect(stack.length > 0).toBe(DEBUG === '1');
  },
);

const MORE = 'Give more characters of the id.';
const RULES = [
  { _id: 'abc1', actions: [{ _id: 'a1' }, { _id: 'a2' }] },
  { _id: 'abc2', actions: [] },
];

test.each<[argv: string[], message: string, fix: string]>([
  [['rules', 'pause', 'abc'], '2 ids begin with abc.', MORE],
  [['rules', 'remove', 'zz'], 'There is no rule zz.', LISTS],
  [['events', 'show', 'abc'], '2 ids begin with abc.', MORE],
  [['resend', 'zz'], 'There is no event zz.', LISTS],
  [['rotate', 'abc1', 'zz', '--show-secret', '--yes'], 'There is no action zz.', LISTS],
  [['rotate', 'abc1', 'a', '--show-secret', '--yes'], '2 ids begin with a.', MORE],
  // As from a shell whose variable is not set: not the only one that there is.
  [['rules', 'remove', ''], 'There is no rule .', LISTS],
])('%j needs an id of one', async (argv, message, fix) => {
  const rules = argv.includes('') ? RULES.slice(1) : RULES;
  const { requests, ...told } = await against({ status: 200, body: rules }, ['simulator', ...argv]);
  expect(told).toEqual({ code: 2, stdout: '', told: `error: ${message}\nfix:   ${fix}\n` });
  expect(requests).toHaveLength(1);
});
