import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { CliError } from '../src/errors.ts';
import { runRestartCommand } from '../src/grader/restart-command.ts';

const NEVER = new AbortController().signal;
const LONG = 60_000;
const node = (code: string) => `"${process.execPath}" -e "${code}"`;

test('a command that succeeds is all that is asked for', async () => {
  await expect(runRestartCommand(node('0'), LONG, NEVER)).resolves.toBeUndefined();
});

test('a command that fails is an error that says how to see why', async () => {
  const failed = runRestartCommand(node('process.exit(7)'), LONG, NEVER);
  await expect(failed).rejects.toMatchObject({
    exitCode: 3,
    message: 'The restart command failed (exit code 7).',
    fix: expect.stringContaining('by hand'),
  });
});

test('a command that does not end is an error', async () => {
  const stuck = runRestartCommand(node('setInterval(() => 0, 1000)'), 1, NEVER);
  await expect(stuck).rejects.toMatchObject({ fix: expect.stringContaining('background') });
  await expect(stuck).rejects.toBeInstanceOf(CliError);
});

test('what is stopped is stopped with all that it started', async () => {
  // The command holds a connection, which ends with its process.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const code = `require('net').connect(${String(port)}, '127.0.0.1').resume()`;
  const stopped = new AbortController();
  const running = runRestartCommand(`${node(code)} && exit 1`, LONG, stopped.signal);
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => undefined); // a reset
  stopped.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
  socket.resume();
  await once(socket, 'close');
  server.close();
});

test('a command is not waited for when Ctrl-C came before', async () => {
  const running = runRestartCommand(node('setInterval(() => 0, 1000)'), LONG, AbortSignal.abort());
  await expect(running).rejects.toThrow();
});

test('Ctrl-C ends the command with its own reason', async () => {
  const stopped = new AbortController();
  const running = runRestartCommand(node('setInterval(() => 0, 1000)'), LONG, stopped.signal);
  stopped.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
});
