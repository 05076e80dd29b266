import { describe, expect, test } from '@jest/globals';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// What commands ask of a simulator: every request, with its whole body.

/** A simulator that gives each path its answer, and what it was asked. */
async function asked(argv: readonly string[], answers: Record<string, unknown> = {}) {
  let calls = 0;
  const server = await receiver(({ method, url }) => {
    const [path = ''] = url.replace('/_sim', '').split('?');
    const call = { _id: `call-${++calls}`, plannedMs: 20_000 + calls };
    const answer = answers[`${method} ${path}`] ?? (method === 'GET' ? [] : call);
    return { status: 200, body: JSON.stringify(answer) };
  });
  const env = {
    ...{ CALL_WEBHOOKS_SIMULATOR: `http://127.0.0.1:${server.port}` },
    CALL_WEBHOOK_SECRET: SECRET,
  };
  const { code } = await run(argv, { env });
  await server.close();
  const requests = server.received.map(({ method, url, body }) => {
    const text = String(body);
    const path = url.replace('/_sim', '');
    return text === '' || text === '{}'
      ? `${method} ${path}`
      : [`${method} ${path}`, JSON.parse(text) as unknown];
  });
  return { code, requests };
}

describe('trigger', () => {
  const CLOCK = 'GET /clock';
  const MESSAGE = {
    subject: 'Our call on Monday',
    to: [{ email: 'ada@example.com', name: 'Ada Example' }],
  };
  const activity = (action: string) => ['POST /messages/call-2/activities', { action }];
  const rules = [
    {
      _id: 'rule-1',
      actions: [
        { _id: 'a', signed: true },
        { _id: 'b', signed: false },
      ],
    },
    { _id: 'rule-2', actions: [{ _id: 'c', signed: true }] },
  ];
  const events = [{ _id: 'event-1' }, { _id: 'event-2' }];

  test.each<[argv: string, requests: unknown[]]>([
    ['call:started', [['POST /calls/start', { recorded: false }]]],
    ['call:completed', [['POST /calls/start', { recorded: false }], 'POST /calls/call-2/end']],
    [
      'call:recording-available',
      [
        ['POST /calls/start', { recorded: false }],
        ...['POST /calls/call-2/end', 'POST /calls/call-3/recording'],
      ],
    ],
    ['call', [['POST /calls', { durationSeconds: 1 }]]],
    ['unrecorded-call', [['POST /calls', { durationSeconds: 1, recorded: false }]]],
    [
      'duplicate',
      [
        ['POST /calls/start', { recorded: false }],
        ...['POST /calls/call-2/end', 'POST /calls/call-2/recording'],
        ...['GET /events?callId=call-2', 'POST /events/event-1/resend'],
        'POST /events/event-2/resend',
      ],
    ],
    ['burst -n 2', Array(2).fill(['POST /calls', { durationSeconds: 1 }])],
    [
      'rotation',
      [
        ...['GET /rules', 'POST /rules/rule-1/actions/a/rotate'],
        ...['POST /rules/rule-2/actions/c/rotate', ['POST /calls', { durationSeconds: 1 }]],
      ],
    ],
    [
      'message',
      [
        ['POST /messages', MESSAGE],
        ...['opened', 'clicked', 'downloaded', 'replied'].map(activity),
      ],
    ],
    [
      'message --set subject=Hi --set to=[]',
      [
        ['POST /messages', { subject: 'Hi', to: [] }],
        ...['opened', 'clicked', 'downloaded', 'replied'].map(activity),
      ],
    ],
    [
      'call -n 2 --set calledName=Ada --set durationSeconds=5 --field-name placedBy=owner',
      Array(2).fill([
        'POST /calls',
        { durationSeconds: 5, calledName: 'Ada', fieldNames: { placedBy: 'owner' } },
      ]),
    ],
    [
      'call:started --set recorded=true --set from.label=x',
      [['POST /calls/start', { recorded: true, from: { label: 'x' } }]],
    ],
  ])('%s', async (argv, requests) => {
    const found = await asked(['trigger', ...argv.split(' ')], {
      ...{ [CLOCK]: { mode: 'real' }, 'GET /rules': rules, 'GET /events': events },
    });
    expect(found).toEqual({ code: 0, requests: [CLOCK, ...requests] });
  });

  test.each<[argv: string, advanced: unknown[]]>([
    // As long as the longest call, and three seconds.
    ['call', [{ by: 23_002 }]],
    ['call -n 2', [{ by: 23_002 }, { by: 23_004 }]],
    ['burst -n 3', [{ by: 23_004 }]],
    ['call:completed', []],
  ])('%s with a manual clock advances it by %j', async (argv, advanced) => {
    const { requests } = await asked(['trigger', ...argv.split(' ')], {
      [CLOCK]: { mode: 'manual' },
    });
    const advances = requests.filter(
      (one) => Array.isArray(one) && one[0] === 'POST /clock/advance',
    );
    expect(advances.map((one) => (one as unknown[])[1])).toEqual(advanced);
  });
});

describe('rules create', () => {
  const URL = 'http://127.0.0.1:3000/hook';
  const action = (more: object = { secret: SECRET }) => ({ url: URL, ...more });
  const rule = (trigger: string, more?: object) => [
    'POST /rules',
    { trigger, scope: 'workspace', actions: [action(more)] },
  ];
  const recording = (more?: object) => ['POST /recording-webhook', action(more)];
  const [STARTED, COMPLETED] = ['call:started', 'call:completed'];
  const generated = {};

  test.each<[flags: string[], requests: unknown[]]>([
    [[], [rule(STARTED), rule(COMPLETED, generated), recording(generated)]],
    [
      ['--secret', `${SECRET},${SECRET}`],
      [rule(STARTED), rule(COMPLETED), recording(generated)],
    ],
    [['--trigger', COMPLETED], [rule(COMPLETED)]],
    [['--trigger', 'call:recording-available'], [recording()]],
    [
      ['--unsigned'],
      [
        ...[STARTED, COMPLETED].map((trigger) => rule(trigger, { signed: false })),
        recording({ signed: false }),
      ],
    ],
    [
      ['--trigger', STARTED, '--payload', '{"id":"{{callId}}"}'],
      [rule(STARTED, { payload: { id: '{{callId}}' }, secret: SECRET })],
    ],
    [
      ['--trigger', STARTED, '--payload', '[null]', '--unsigned'],
      [rule(STARTED, { payload: [null], signed: false })],
    ],
  ])('%j', async (flags, requests) => {
    const made = { _id: 'r', trigger: STARTED, state: 'active', name: 'n', actions: [] };
    const answers = { 'POST /rules': made, 'POST /recording-webhook': { ...made, _id: 's' } };
    const found = await asked(['rules', 'create', '--url', '3000/hook', ...flags], answers);
    expect(found).toEqual({ code: 0, requests: ['GET /rules', ...requests] });
  });
});

test.each<[argv: string, requests: unknown[]]>([
  ['rules pause rule', ['GET /rules', 'POST /rules/rule-1/pause']],
  ['rules resume rule-1', ['GET /rules', 'POST /rules/rule-1/resume']],
  ['rules remove rule', ['GET /rules', 'DELETE /rules/rule-1']],
  ['rules list', ['GET /rules']],
  ['rules list --show-secret', ['GET /rules', 'GET /secrets']],
  [
    'events list --state failed --event call:started -n 2',
    ['GET /events?state=failed&eventName=call%3Astarted&limit=1000000'],
  ],
  ['clock', ['GET /clock']],
  ['chaos', ['GET /chaos']],
  ['chaos off', ['POST /chaos/clear']],
  ['chaos set duplicate=20% replay', [['PATCH /chaos', { duplicate: 0.2, replay: 1 }]]],
  ['chaos set --all 0.1 replay=0', ['GET /chaos', ['PATCH /chaos', { duplicate: 0.1, replay: 0 }]]],
])('%s', async (argv, requests) => {
  const rule = { _id: 'rule-1', name: 'n', trigger: 't', state: 'active', actions: [] };
  const found = await asked(argv.split(' '), {
    ...{ 'GET /rules': [rule], 'POST /rules/rule-1/pause': rule },
    ...{ 'POST /rules/rule-1/resume': rule, 'GET /secrets': {} },
    ...{ 'GET /clock': { now: 0, mode: 'manual', nextDueAt: null, inFlight: 0 } },
    ...{ 'GET /chaos': { duplicate: 0, replay: 0 }, 'PATCH /chaos': {}, 'POST /chaos/clear': {} },
  });
  expect(found).toEqual({ code: 0, requests });
});
