import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { startSimulator } from '@call-webhooks/simulator';
import { fill, setup } from './support/dead-letters.ts';
import { program } from './support/program.ts';
import { receiver } from './support/receiver.ts';

// The program in its own process: signals, closed pipes and real streams.
const BIN = fileURLToPath(new URL('../src/bin.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FLAGS = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

describe('the program as a process', () => {
  const busy = createServer();
  beforeAll(async () => {
    busy.listen(0, '127.0.0.1');
    await once(busy, 'listening');
  });
  afterAll(() => {
    busy.close();
  });

  test.each([
    ['SIGINT', 130, ['simulate', '--port', '0', '--json']],
    ['SIGTERM', 143, ['listen', '--port', '0', '--json']],
    ['SIGHUP', 129, ['listen', '--port', '0', '--json']],
  ] as const)(
    '%s ends with %d: %j',
    async (signal, code, argv) => {
      const child = program([...argv]);
      const exit = once(child, 'exit');
      await once(child.stdout, 'data');
      child.kill(signal);
      expect(await exit).toEqual([code, null]);
    },
    120_000,
  );

  test('a second signal does not wait for what is in progress, and says what that means', async () => {
    const made = await setup();
    await fill(made, 1);
    const silent = await receiver(() => undefined);
    const redrive = ['dead-letters', 'redrive', '--all', '--to', silent.url, '--timeout', '5m'];
    const child = program(redrive, made.env);
    const exit = once(child, 'exit');
    let stderr = '';
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
    await waitFor(() => silent.received.length === 1);
    child.kill('SIGINT');
    await waitFor(() => stderr.includes('Press Ctrl-C again to stop at once.'));
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    expect(await exit).toEqual([130, null]);
    expect(stderr).toContain('no dead letter is lost. To see the result, run the command again in');
    expect(await made.deadLetters.count()).toBe(1);
    await silent.close();
  }, 120_000);

  test('a closed pipe is not an error', async () => {
    const child = program(['listen', '--port', '0', '--json', '--no-verify']);
    const exit = once(child, 'exit');
    const [first] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(first.toString('utf8')) as { url: string };
    child.stdout.destroy();
    // What arrives now cannot be printed.
    const arrive = () => fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined);
    while (child.exitCode === null && (await arrive()));
    expect(await exit).toEqual([0, null]);
    expect(await text(child.stderr)).not.toContain('EPIPE');
  });

  (process.platform === 'win32' ? test.skip : test)(
    'a slow reader of a pipe gets all that is written, also to stderr',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pipe-'));
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      // Open for both first, so that neither end waits for the other.
      const writing = openSync(pipe, 'r+');
      const reading = openSync(pipe, 'r');
      // More than a pipe holds.
      const name = 'x'.repeat(120_000);
      const argv = ['check', '--to', '3000/hook', '--only', name];
      const child = spawn(process.execPath, [...FLAGS, BIN, ...argv], {
        cwd: ROOT,
        stdio: ['ignore', 'ignore', writing],
      });
      closeSync(writing);
      const exit = once(child, 'exit');
      let told = '';
      for await (const piece of createReadStream('', { fd: reading, highWaterMark: 2_048 })) {
        told += String(piece);
        // All of it takes longer than the program waits for anything else.
        await pause(25);
      }
      expect(told.replaceAll('\n', '')).toContain(`There is no check or group named ${name}.`);
      expect(await exit).toEqual([2, null]);
      rmSync(folder, { recursive: true });
    },
    120_000,
  );

  test('a time without a zone is UTC, wherever the command runs', async () => {
    const store = ['--store', 'sqlite:/nowhere/calls.db'];
    const window = (until: string) => ['--since', '2026-01-31T12:00:00Z', '--until', until];
    const list = async (until: string) => {
      const argv = ['dead-letters', 'list', ...store, ...window(until)];
      const child = program(argv, { TZ: 'America/New_York' });
      return (await Promise.all([text(child.stderr), once(child, 'exit')]))[0];
    };
    // In New York, it would be five hours later, and the window not empty.
    expect(await list('2026-01-31T11:59')).toContain('--since has to be before --until');
    expect(await list('2026-01-31T12:01')).toContain('There is no file');
  }, 120_000);

  (process.platform === 'linux' ? test : test.skip)(
    'a full disk is exit code 3, even for short output',
    async () => {
      const full = openSync('/dev/full', 'w');
      const child = spawn(process.execPath, [...FLAGS, BIN, 'explain'], {
        cwd: ROOT,
        stdio: ['ignore', full, 'pipe'],
      });
      const [stderr, exit] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
      closeSync(full);
      expect(exit).toEqual([3, null]);
      expect(stderr).toContain('ENOSPC');
    },
    120_000,
  );

  test('a port in use is exit code 3, without colors in a pipe', async () => {
    const { port } = busy.address() as AddressInfo;
    const child = program(['listen', '--port', String(port)]);
    const [stderr, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(exit).toEqual([3, null]);
    expect(stderr).toContain('in use');
    expect(stderr).not.toContain('\u001b');
  });
});

// Node from 22.21 and 24.5 on uses a proxy when it is told to.
test('a proxy in the environment is never asked for what runs on this machine', async () => {
  let asked = 0;
  const proxy = createServer((socket) => {
    asked++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
  const target = await receiver();
  const simulator = await startSimulator({ clock: 'manual', seed: 7 });
  simulator.rules.forwardTo(target.url);
  const env = {
    ...{ HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url },
    ...{ NODE_USE_ENV_PROXY: '1', CALL_WEBHOOKS_SIMULATOR: simulator.url },
    NODE_OPTIONS: '--disable-warning=UNDICI-EHPA', // Node 22 calls its proxies experimental
  };
  for (const argv of [
    ['clock'],
    ['trigger', 'call:started', '--wait'], // also the stream of updates
    ['calls'],
    ['send', 'call:started', '--to', target.url],
  ]) {
    const child = program(argv, env);
    const [stderr, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ argv, exit, stderr }).toEqual({ argv, exit: [0, null], stderr: '' });
  }
  expect(asked).toBe(0);
  await simulator.close();
  await target.close();
  proxy.close();
}, 240_000);
