import { describe, expect, test } from '@jest/globals';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

// What a person is told about each mistake in a command line: what is wrong, and what to do. Scripts get the same.

type Row = readonly [command: string | readonly string[], message: string, fix: string];

const WRONG_INPUT: readonly Row[] = [
  ['nosuch', 'There is no command nosuch.', 'List the commands: npx call-webhooks --help'],
  [
    'rules nosuch',
    'There is no command rules nosuch.',
    'List the commands: npx call-webhooks rules --help',
  ],
  [
    '--wide rules nosuch',
    'There is no command rules nosuch.',
    'List the commands: npx call-webhooks rules --help',
  ],
  ['help nosuch', 'There is no command nosuch.', 'List the commands: npx call-webhooks --help'],
  [
    'dead-letters shwo 1',
    'There is no command dead-letters shwo.',
    'List the commands: npx call-webhooks dead-letters --help',
  ],
  ['events lst', 'There is no command events lst.', 'Did you mean list?'],
  [
    'send',
    "required option '--to <url>' not specified",
    'Add --to <url>. For an example: npx call-webhooks send --help',
  ],
  [
    'send call:completed',
    "required option '--to <url>' not specified",
    'Add --to <url>. For an example: npx call-webhooks send --help',
  ],
  [
    'send call:completed --to 3000/hook --nosuch',
    "unknown option '--nosuch'",
    'List the options: npx call-webhooks send --help',
  ],
  [
    'send call:completed --to 3000/hook --timeout',
    "option '--timeout <duration>' argument missing",
    'Add --timeout <duration>. For an example: npx call-webhooks send --help',
  ],
  [
    'send a b --to 3000',
    "too many arguments for 'send'. Expected 1 argument but got 2.",
    'Usage: call-webhooks send [options] <event>',
  ],
  [
    'simulate --clock fast',
    "option '--clock <mode>' argument 'fast' is invalid.",
    'Use one of: real, manual.',
  ],
  [
    'dead-letters list --reason other --store sqlite:x',
    "option '--reason <reason>' argument 'other' is invalid.",
    'Use one of: handler-failed, invalid-payload.',
  ],
  [
    'verify --no-such',
    "unknown option '--no-such'",
    'List the options: npx call-webhooks verify --help',
  ],
  [
    'send call:completed --to 3000/hook --timeout 5',
    '5 has no unit.',
    'Add one: 5s, 5m, 5h or 5d.',
  ],
  [
    'send call:completed --to 3000/hook --timeout soon',
    'soon is not a duration from 0s to 36525d.',
    'Examples: 250ms, 30s, 5m, 1.5h, 2d',
  ],
  [
    'reconcile --since soon --to 3000',
    'soon is neither a time nor a duration.',
    'Examples: 90m, 2h or 3d (ago), 2026-01-31, 2026-01-31T12:00Z. A time without a zone is in UTC.',
  ],
  [
    'reconcile',
    "required option '--since <time>' not specified",
    'Add --since <time>. For an example: npx call-webhooks reconcile --help',
  ],
  [
    'clock advance',
    "missing required argument 'duration'",
    'Usage: call-webhooks clock advance [options] <duration>',
  ],
  [
    ['send', 'call:completed', '--to', '3000/hook', '--header', 'no header'],
    'Invalid header: no header',
    'Example: --header "X-Tenant: blue"',
  ],
  [
    'send call:completed --to 3000/hook --set a',
    '--set a is not of the form path=value.',
    'Example: --set calledName=Ada',
  ],
  [
    'send call:completed --to 3000/hook --set =1',
    '--set =1 is not of the form path=value.',
    'Example: --set calledName=Ada',
  ],
  [
    'send call:completed --to 3000/hook --set a..b=1',
    '--set a..b=1 is not of the form path=value.',
    'Example: --set calledName=Ada',
  ],
  [
    'send call:completed --to 3000/hook --set callId.x=1',
    '--set callId.x=1: callId is not an object, so it has no fields.',
    "Set it as a whole: --set callId='{…}'",
  ],
  [
    'send call:completed --to 3000/hook --set __proto__.x=1 --data {"__proto__":null}',
    '--set __proto__.x=1: __proto__ is not an object, so it has no fields.',
    "Set it as a whole: --set __proto__='{…}'",
  ],
  [
    'send call:completed --to 3000/hook --data [1] --set a=1',
    '--set needs a JSON object, but the data is not one.',
    'Remove --set.',
  ],
  [
    'send call:complete --to 3000',
    'There is no sample of call:complete.',
    'Did you mean call:completed? For any other event, pass its body: --data @file',
  ],
  [
    'send call:completed --to ftp://127.0.0.1/x',
    'Invalid URL: ftp://127.0.0.1/x',
    'Example: http://127.0.0.1:3000/hook',
  ],
  [
    'send call:completed --to http://127.example.com/hook',
    '127.example.com is not this machine.',
    'To send to another machine, pass --allow-external.',
  ],
  [
    'send call:completed --to http://localhost.example.com/hook',
    'localhost.example.com is not this machine.',
    'To send to another machine, pass --allow-external.',
  ],
  [
    'send call:completed --to http://a:b@127.0.0.1/hook',
    'The URL must not contain a user name or password.',
    'Remove it from the URL.',
  ],
  [
    ['send', 'call:completed', '--to', 'no url'],
    'Invalid URL: no url',
    'Example: http://127.0.0.1:3000/hook',
  ],
  [
    'send call:completed --to 3000/hook --secret whsec_abc',
    'The signing secret is too short: it has 2 bytes and needs at least 16. Copy the whole secret from where the webhook action was created or rotated. See https://call-webhooks.github.io/call-webhooks/outcomes.html#invalid-secret',
    'Copy the whole secret, including whsec_, from the response that created or rotated the action. Check that the environment variable is set.',
  ],
  [
    'send call:completed --to 3000/hook --data -',
    'The data is read from standard input, but nothing is piped in.',
    'Pipe it in, or pass --data @FILE.',
  ],
  [
    'send call:completed --to 3000/hook --data \u0007 --curl',
    'This body contains bytes that cannot be part of a command line.',
    'Save it to a file and pass --data @file.',
  ],
  ['trigger cal', 'There is no event or scenario cal.', 'Did you mean call?'],
  [
    'trigger nonsense',
    'There is no event or scenario nonsense.',
    'List them: npx call-webhooks trigger',
  ],
  [
    'calls --base-url example.com --api-token t',
    'baseUrl must be an absolute URL, such as https://api.example.com',
    "Check the service's URL: CALL_WEBHOOKS_BASE_URL or --base-url.",
  ],
  [
    'calls --base-url https://example.com?a=1 --api-token t',
    'baseUrl must not have a query or a fragment',
    "Check the service's URL: CALL_WEBHOOKS_BASE_URL or --base-url.",
  ],
  [
    ['calls', '--base-url', 'https://example.com', '--api-token', 'a b'],
    'apiToken must be a string of visible ASCII characters',
    'Check the values that you passed. For all options, add --help to the command.',
  ],
  [
    'calls --simulator http://example.com',
    'http://example.com is not a simulator: a simulator runs only on this machine.',
    'Examples: --simulator http://127.0.0.1:4777, --simulator 4777',
  ],
  [
    'calls --simulator no',
    'no is not a simulator: a simulator runs only on this machine.',
    'Examples: --simulator http://127.0.0.1:4777, --simulator 4777',
  ],
  [
    'chaos set duplicate=x',
    'duplicate=x is not of the form mode=probability.',
    'Example: duplicate=0.2',
  ],
  [
    'simulate --port 0 --chaos nosuch=1',
    'chaos: There is no field "nosuch". The fields are: duplicate, concurrentDuplicates, reorder, dropResponse, slowBody, wrongSecret, oldSecret, clockSkew, replay, tamperedBody.',
    'Correct this option. For all options: npx call-webhooks simulate --help',
  ],
  [
    'simulate --port 0 --chaos duplicate=2',
    'chaos.duplicate must be a number from 0 to 1.',
    'Correct this option. For all options: npx call-webhooks simulate --help',
  ],
  ['simulate --port 0 --retry-every 5', '5 has no unit.', 'Add one: 5s, 5m, 5h or 5d.'],
  [
    'rules create --url 3000/hook --payload {}',
    'A custom payload needs a call event.',
    'Add --trigger call:started or --trigger call:completed.',
  ],
  [
    'rules create --url 3000/hook --payload {} --trigger call:recording-available',
    'A custom payload needs a call event.',
    'Add --trigger call:started or --trigger call:completed.',
  ],
  [
    'rules create',
    "required option '--url <url>' not specified",
    'Add --url <url>. For an example: npx call-webhooks rules create --help',
  ],
  ['check', '--to is missing.', 'Pass the receiver: --to URL'],
  [
    'check --to 3000/hook --only clok',
    'There is no check or group named clok.',
    'Did you mean clock?',
  ],
  [
    'check --to 3000/hook --only nothing-like-it',
    'There is no check or group named nothing-like-it.',
    'Groups: signature, headers, clock, body-bytes, secrets, replays, duplicates, events, failures, connections. --json names the checks.',
  ],
  ['verify --data x', 'No headers are given.', 'Pass --headers FILE, or each one with --header.'],
  [
    'infer -',
    'The capture is read from standard input, but nothing is piped in.',
    'Pipe it in, or pass --data @FILE.',
  ],
  [
    'explain signature-mismach',
    'There is no outcome signature-mismach.',
    'Did you mean signature-mismatch?',
  ],
  [
    'explain nothing-like-it',
    'There is no outcome nothing-like-it.',
    'List them: npx call-webhooks explain',
  ],
  ['explain 600', 'There is no outcome 600.', 'List them: npx call-webhooks explain'],
  ['rotate 1 2', 'The new secret would be lost.', 'Pass --secret-out FILE or --show-secret.'],
  [
    'rotate 1',
    "missing required argument 'actionId'",
    'Usage: call-webhooks rotate [options] <ruleId> <actionId>',
  ],
  [
    'rotate 1 2 --show-secret --yes --base-url http://example.com',
    'http://example.com is plain http, which would expose the API token.',
    'Use https.',
  ],
  [
    'recording 1 --base-url https://example.com',
    'No API token is given.',
    'Set CALL_WEBHOOKS_API_TOKEN, or pass --api-token-file FILE.',
  ],
  [
    'recording',
    "missing required argument 'callId'",
    'Usage: call-webhooks recording [options] <callId>',
  ],
  ['status', 'No store is given.', 'Pass --store URL, or set CALL_WEBHOOKS_STORE.'],
  [
    'status --store nosuch://x',
    'The store must be a URL that starts with redis://, rediss://, postgres://, mysql://, mariadb:// or sqlite:, or the path of a module, such as ./my-store.mjs.',
    'Example: --store sqlite:calls.db',
  ],
  [
    'status --store postgres://u:p#1@h/db',
    'The URL of the store contains a #, and everything after it is ignored.',
    'In a password, write %23 instead of #, %2F instead of /, %3F instead of ? and %40 instead of @.',
  ],
  [
    'dead-letters list --since 1h --until 2h --store sqlite:x',
    '--since has to be before --until.',
    'Give a longer window, or only one of them.',
  ],
  [
    'dead-letters redrive --to 3000',
    'The command does not say which dead letters to redrive.',
    'Pass ids, a filter such as --event, or --all.',
  ],
  [
    'dead-letters redrive --all',
    "required option '--to <url>' not specified",
    'Add --to <url>. For an example: npx call-webhooks dead-letters redrive --help',
  ],
  [
    'dead-letters remove',
    "missing required argument 'id'",
    'Usage: call-webhooks dead-letters remove [options] <id...>',
  ],
  [
    'erase --yes',
    'The command does not say whose data to erase.',
    'Pass --contains FILE, --call, --tenant or --before.',
  ],
  [
    'erase --call c1',
    'The erasure is not confirmed, and it cannot be undone.',
    'Look with --dry-run first, then pass --yes.',
  ],
  [
    'erase --call',
    "option '--call <id...>' argument missing",
    'Add --call <id...>. For an example: npx call-webhooks erase --help',
  ],
  [
    'listen --respond 404',
    '--respond 404 would pause the rule, or is not a final status.',
    'To test retries, use 500.',
  ],
  [
    'listen --forward-to http://example.com',
    'example.com is not this machine.',
    'To send to another machine, pass --allow-external.',
  ],
];

const NOT_THERE: readonly Row[] = [
  [
    'send call:completed --to 3000/hook --data @no-such-file',
    'Cannot read the data no-such-file: ENOENT.',
    'Check the path. It is relative to the current directory.',
  ],
  [
    'send call:completed --to 3000/hook --secret-file no-such-file',
    'Cannot read the secret file no-such-file: ENOENT.',
    'Check the path. It is relative to the current directory.',
  ],
  ['status --store sqlite:no-such-file', 'There is no file no-such-file.', 'Check the path.'],
  ['status --store ./no-such.mjs', 'There is no file ./no-such.mjs.', 'Check the path.'],
  [
    'dead-letters list --contains no-such --store sqlite:x',
    'The file of --contains cannot be read. It expects the path of a file, not a value.',
    'Write the values to a file, one on each line, and pass its path. Or pass --contains - and pipe them in.',
  ],
];

describe.each<[exitCode: number, rows: readonly Row[]]>([
  [2, WRONG_INPUT],
  [3, NOT_THERE],
])('with exit code %d', (exitCode, rows) => {
  test.each(rows)('%s: %s', async (command, message, fix) => {
    const argv = typeof command === 'string' ? command.split(' ') : command;
    const given = { env: { CALL_WEBHOOK_SECRET: SECRET }, columns: 1_000 };
    const people = await run(argv, given);
    expect(people).toMatchObject({
      ...{ code: exitCode, stdout: '', stderr: `error: ${message}\nfix:   ${fix}\n` },
    });
    const scripts = await run(['--json', ...argv], given);
    expect([scripts.code, scripts.stdout, JSON.parse(scripts.stderr)]).toEqual([
      ...[exitCode, '', { error: { message, fix, exitCode } }],
    ]);
  });
});
