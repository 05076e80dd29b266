import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { App } from '../src/app.ts';
import { CODES } from '../src/commands/explain.ts';
import { failureOf } from '../src/http/effects.ts';
import { program } from '../src/program.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const root = await program(new App({ stdout: {}, stderr: {}, env: {} } as never));
const leaves = (command: Command, path: string[] = []): string[][] =>
  command.commands.flatMap((one) => [[...path, one.name()], ...leaves(one, [...path, one.name()])]);
const COMMANDS = leaves(root);

describe('help', () => {
  test.each(COMMANDS.map((path) => [path.join(' '), path] as const))(
    '%s --help',
    async (_name, path) => {
      const { code, stdout, stderr } = await run([...path, '--help'], { columns: 80 });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: call-webhooks ${path.join(' ')}`);
      expect(stdout).toContain('--json');
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
      if (!path.includes('help'))
        expect(stdout).toMatch(/Examples:\n {2}# .+\n {2}\$ npx call-webhooks /);
    },
  );

  test('without arguments, and --version', async () => {
    expect((await run([])).stdout).toContain('Usage: call-webhooks');
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    [['help', '--help']],
    [['rules', 'help']],
    [['rules', 'help', '--help']],
    [['activity', 'to:example.com', '--help']],
  ])('%j', async (argv) => {
    expect(await run(argv)).toMatchObject({ code: 0, stderr: '' });
  });

  test('names each variable of a secret, and each exit code of the docs', async () => {
    const help = (await run(['--help'])).stdout;
    expect(help).toMatch(/\$CALL_WEBHOOK_SECRET and\s+\$RECORDING_WEBHOOK_SECRET/);
    const codes = [
      ...help.slice(help.indexOf('Exit codes:')).matchAll(/^ {2}(\d[\d, ]*?) {2,}\S/gm),
    ];
    const docs = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8');
    const inDocs = [...docs.matchAll(/^\| (\d[\d, ]*?) +\|/gm)];
    expect(codes.map(([, code]) => code)).toEqual(inDocs.map(([, code]) => code));
  });

  test.each([[['dead-letters', 'redrive']], [['reconcile']]])(
    '%j says that the URL and the secret decide whose handlers run',
    async (argv) => {
      const help = (await run([...argv, '--help'])).stdout.replace(/\s+/g, ' ');
      expect(help).toMatch(/the secret decide/);
      expect(help).toContain('those of another tenant, its handlers run these events, as its own.');
    },
  );

  test('the inspector is where people look for a web page', async () => {
    for (const argv of [['--help'], ['simulate', '--help']])
      expect((await run(argv)).stdout.replace(/\s+/g, ' ')).toContain('the inspector (a web page)');
  });

  test('the example that retries advances the clock beyond five minutes and the jitter', async () => {
    const [, minutes] = /clock advance (\d+)m/.exec((await run(['clock', '--help'])).stdout) ?? [];
    expect(Number(minutes)).toBeGreaterThan(5.5);
  });
});

test('only the command that is asked for is loaded, so that --help starts quickly', async () => {
  const app = new App({ stdout: {}, stderr: {}, env: {} } as never);
  const loaded = async (...argv: string[]) =>
    (await program(app, argv)).commands
      .filter(({ options, commands }) => options.length + commands.length > 0)
      .map((command) => command.name());
  expect(await loaded('--help')).toEqual([]);
  expect(await loaded('--json', 'rules', 'list')).toEqual(['rules']);
  expect(await loaded('help', 'rules')).toEqual(['rules']);
});

describe('bad input is exit code 2, with a fix on stderr', () => {
  test.each([
    [['triger'], 'Did you mean trigger?'],
    [['events', 'lst'], 'Did you mean list?'],
    [['rules', 'paus', '5f02'], 'Did you mean pause?'],
    [['chaos', 'nosuch'], 'List the commands: npx call-webhooks chaos --help'],
    [['simulate', '--prot', '1'], 'Did you mean --port?'],
    [['send', 'call:completed'], '--to'],
    [['send', 'call:complete', '--to', '3000'], 'Did you mean call:completed?'],
    [['send', 'call:completed', '--to', 'https://example.com'], '--allow-external'],
    [['send', 'call:completed', '--to', '3000'], 'CALL_WEBHOOK_SECRET'],
    [['send', 'call:completed', '--to', '3000', '--secret', 'whsec_abc'], 'too short'],
    [['listen', '--respond', '404'], 'pause'],
    [['activity', '--base-url', 'http://127.0.0.1:1'], 'CALL_WEBHOOKS_API_TOKEN'],
    [['activity', '--base-url', 'http://example.com', '--api-token', 'x'], 'https'],
    [['activity', '--base-url', 'ftp://x', '--api-token', 'x'], 'fix:   Check the service'],
    [['events', 'list', '--simulator', 'http://example.com'], 'this machine'],
    [['clock', 'advance', '5'], '5 has no unit'],
    [['explain', 'signature-missmatch'], 'Did you mean signature-mismatch?'],
    [['trigger', 'cal:started'], 'Did you mean call:started?'],
    [['events', 'show'], 'Usage: call-webhooks events show [options] <id>'],
    [['help', 'nosuch'], 'List the commands: npx call-webhooks --help'],
    [['help', 'rules', 'paus'], 'Did you mean pause?'],
    [['nosuch', '--help'], 'List the commands: npx call-webhooks --help'],
    [['triger', '-h'], 'Did you mean trigger?'],
    [['--wide', 'rules', 'paus', '--help'], 'Did you mean pause?'],
    [['rules', 'help', 'paus'], 'Did you mean pause?'],
    [['events', 'list', '--state', 'lost'], 'Use one of: waiting, in-flight'],
    [['events', 'list', '-n', '0'], 'Example: --limit 1'],
    [['events', 'list', 'x'], 'Usage: call-webhooks events list'],
    [['events', 'list', '--limit'], 'Add -n, --limit <number>.'],
    [['rules', 'create'], 'Add --url <url>.'],
    [['simulate', '--clock', 'fast'], 'Use one of: real, manual.'],
    [['sign', '--secret', SECRET], 'standard input'],
    [['sign', '--secret', `"${SECRET}"`], 'quotation marks'],
  ])('%j', async (argv, told) => {
    const { code, stdout, stderr } = await run(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(told);
    expect(stderr).toMatch(/^error: /);
  });

  test('a group without a command shows its help', async () => {
    const { code, stdout, stderr } = await run(['dead-letters']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: call-webhooks dead-letters');
  });

  test.each([['rules'], ['events'], ['clock'], ['chaos']])(
    '%s without a command shows what there is, and takes --simulator',
    async (group) => {
      const { code, stderr } = await run([group, '--simulator', '1']);
      expect(code).toBe(3);
      expect(stderr).toContain('No simulator is running at http://127.0.0.1:1 ');
    },
  );

  test('an argument cannot control the terminal', async () => {
    const { stderr } = await run(['explain', '\u001b[2Jx'], {
      terminal: true,
      env: { NO_COLOR: '1' },
    });
    expect(stderr).not.toContain('\u001b');
  });
});

describe('an unavailable file or server is exit code 3', () => {
  test.each([
    [['rules', 'list', '--simulator', '1'], 'npx call-webhooks simulate'],
    [['check', '--to', '1/hook'], 'Start the receiver'],
    [['sign', '--secret-file', '/no/such/file'], 'ENOENT'],
  ])(
    '%j',
    async (argv, told) => {
      const { code, stderr } = await run(argv);
      expect(code).toBe(3);
      expect(stderr).toContain(told);
    },
    120_000,
  );
});

describe('explain', () => {
  const docs = readFileSync(new URL('../../../docs/outcomes.md', import.meta.url), 'utf8');

  test('knows exactly the codes of docs/outcomes.md', () => {
    const anchors = [...docs.matchAll(/^## ([a-z-]+)$/gm)].map(([, code]) => code);
    expect([...CODES].sort()).toEqual(anchors.sort());
  });

  test('an outcome, a status, and a status that receivers never send', async () => {
    expect((await run(['explain', 'replayed'])).stdout).toContain('409');
    const { records } = await run(['explain', '503', '--json']);
    expect(records().map(({ code }) => code)).toContain('in-progress');
    expect((await run(['explain', '404'])).stdout).toContain('pause the rule at once');
    expect((await run(['explain', '302'])).stdout).toContain('not documented to follow redirects');
  });

  test('every code that a failed attempt can name', async () => {
    for (const code of [...Object.keys(constants.errno), 'ERR_SOCKET_CLOSED', 'TypeError'])
      expect(failureOf(code)).toBeDefined();
    for (const [code, fix] of [
      ['EHOSTUNREACH', 'the network'],
      ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
      ['CERT_HAS_EXPIRED', 'Renew the certificate'],
      ['ERR_SSL_WRONG_VERSION_NUMBER', 'use http://'],
      ['HPE_INVALID_CONSTANT', 'use https://'],
    ] as const) {
      const explained = await run(['explain', code]);
      expect(explained.code).toBe(0);
      expect(explained.stdout).toContain(fix);
    }
  });
});
