import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { program } from './support/program.ts';

// A server that accepts connections and never answers, as one does behind a broken proxy, or when it is
// stopped by its machine. No command may wait for it for long, nor outlive the person who has started it.
const sockets = new Set<Socket>();
const silent = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.resume();
});
let port = 0;
let onConnection: Promise<unknown>;

beforeAll(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  ({ port } = silent.address() as AddressInfo);
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

const url = () => `http://127.0.0.1:${String(port)}`;
const storeOf = (scheme: string) => `${scheme}://127.0.0.1:${String(port)}/0`;
/** Without Ctrl-C, a program waits for a silent server for as long as this; seconds. */
const GIVEN_UP_AFTER = 10;
const TO = ['--to', '127.0.0.1:1/hook'];

/** Everything that opens a store. */
const STORE_COMMANDS: readonly (readonly string[])[] = [
  ['dead-letters', 'list'],
  ['dead-letters', 'causes'],
  ['dead-letters', 'show', '1f2e'],
  ['dead-letters', 'remove', '1f2e', '--yes'],
  ['dead-letters', 'redrive', '--all', ...TO],
  ['doctor'],
  [
    'reconcile',
    '--since',
    '1h',
    '--dry-run',
    '--base-url',
    'http://127.0.0.1:1',
    '--api-token',
    'x',
  ],
];

async function ended(child: ReturnType<typeof program>) {
  const started = performance.now();
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr, seconds: (performance.now() - started) / 1_000 };
}

describe.each(['redis', 'postgres', 'mysql'])('a silent store, %s', (scheme) => {
  test('is given up by every command that opens one, with a fix', async () => {
    const env = { CALL_WEBHOOKS_STORE: storeOf(scheme) };
    const all = await Promise.all(STORE_COMMANDS.map((argv) => ended(program(argv, env))));
    for (const [at, { code, stdout, stderr, seconds }] of all.entries()) {
      const argv = STORE_COMMANDS[at]!;
      const isDoctor = argv[0] === 'doctor';
      expect({ argv, code }).toEqual({ argv, code: isDoctor ? 1 : 3 });
      expect(isDoctor ? stdout : stderr).toMatch(
        /did not respond within|The store failed: .*(?:timeout|ETIMEDOUT)|The service/i,
      );
      expect(`${stdout}${stderr}`).toMatch(/fix:/i);
      expect(seconds).toBeLessThan(60);
    }
  }, 120_000);

  test.each([
    [['dead-letters', 'list']],
    [['dead-letters', 'redrive', '--all', ...TO]],
    [['doctor']],
  ])(
    'does not hold %j after one Ctrl-C',
    async (argv) => {
      onConnection = once(silent, 'connection');
      const child = program(argv, { CALL_WEBHOOKS_STORE: storeOf(scheme) });
      await onConnection;
      const end = ended(child);
      child.kill('SIGINT');
      expect(await end).toMatchObject({ code: 130 });
      expect((await end).seconds).toBeLessThan(GIVEN_UP_AFTER);
    },
    60_000,
  );

  test('does not hold mcp when its assistant is gone', async () => {
    const child = program(['mcp'], { CALL_WEBHOOKS_STORE: storeOf(scheme) });
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    send({ id: 1, method: 'initialize', params });
    await once(child.stdout, 'data');
    send({ method: 'notifications/initialized' });
    onConnection = once(silent, 'connection');
    send({ id: 2, method: 'tools/call', params: { name: 'dead_letters', arguments: {} } });
    await onConnection;
    const end = ended(child);
    child.stdin.end();
    expect((await end).code).toBe(0);
    expect((await end).seconds).toBeLessThan(GIVEN_UP_AFTER);
  }, 60_000);
});

/** Everything that talks HTTP, with the silent server in the place of each other party. */
const HTTP_COMMANDS = (): readonly (readonly string[])[] => [
  ['clock'],
  ['clock', 'advance', '1m'],
  ['chaos', 'off'],
  ['rules'],
  ['events'],
  ['events', 'tail'],
  ['resend', '1f2e'],
  ['trigger', 'call'],
  ['calls', '--simulator', url()],
  ['send', 'call:started', '--to', url(), '--timeout', '2s'],
  ['check', '--to', url(), '--timeout', '2s'],
  ['doctor', '--to', url(), '--timeout', '2s'],
];

describe('a silent HTTP server', () => {
  test('is given up by every command', async () => {
    const env = { CALL_WEBHOOKS_SIMULATOR: url() };
    const all = await Promise.all(HTTP_COMMANDS().map((argv) => ended(program(argv, env))));
    for (const [at, { code, stdout, stderr, seconds }] of all.entries()) {
      const [command = ''] = HTTP_COMMANDS()[at] ?? [];
      expect({ command, code }).toEqual({
        command,
        code: ['send', 'doctor'].includes(command) ? 1 : 3,
      });
      expect(`${stdout}${stderr}`).toMatch(
        /did not respond within 10 s|never responded|no response in time/,
      );
      expect(seconds).toBeLessThan(60);
    }
  }, 120_000);

  test.each([
    ['clock'],
    ['send', 'call:started', '--to', 'URL'],
    ['check', '--to', 'URL'],
    ['calls', '--base-url', 'URL', '--api-token', 'x'],
    ['activity', '--base-url', 'URL', '--api-token', 'x'],
    ['recording', 'some-call', '--base-url', 'URL', '--api-token', 'x'],
  ])(
    'does not hold %s after one Ctrl-C',
    async (...argv) => {
      const connected = once(silent, 'connection');
      const child = program(
        argv.map((word) => (word === 'URL' ? url() : word)),
        { CALL_WEBHOOKS_SIMULATOR: url() },
      );
      await connected;
      const end = ended(child);
      child.kill('SIGINT');
      expect(await end).toMatchObject({ code: 130 });
      expect((await end).seconds).toBeLessThan(GIVEN_UP_AFTER);
    },
    60_000,
  );
});
