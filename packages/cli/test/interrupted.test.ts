import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { receiver, SECRET } from './support/receiver.ts';
import { start } from './support/run.ts';

// Ctrl-C while a command waits for a server that does not answer: it ends at once, says nothing, and leaves no
// connection open.

let server: Awaited<ReturnType<typeof receiver>>;
beforeEach(async () => {
  server = await receiver(() => undefined);
});
afterEach(() => server.close());

const EVENT = ['--to', 'URL', '--secret', SECRET];
test.each<[command: string, more?: string[]]>([
  ['send call:completed', EVENT],
  ['check', EVENT],
  ['check --deep', EVENT],
  ['doctor', EVENT],
  ['calls'],
  ['calls --all --json'],
  ['activity type:opened'],
  ['recording 1'],
  ['recording 1 -o -'],
  ['reconcile --since 1h', EVENT],
  ['rules list'],
  ['rules create --url 3000/hook'],
  ['rules pause 1'],
  ['events list'],
  ['events show 1'],
  ['events tail'],
  ['resend 1'],
  ['trigger call'],
  ['trigger call --wait'],
  ['clock'],
  ['clock advance 5s'],
  ['chaos set duplicate=1'],
  ['rotate 1 2 --show-secret --yes --simulator PORT'],
])('%s', async (command, more = []) => {
  const origin = `http://127.0.0.1:${server.port}`;
  const env = {
    ...{ CALL_WEBHOOKS_SIMULATOR: origin, CALL_WEBHOOKS_BASE_URL: origin },
    CALL_WEBHOOKS_API_TOKEN: 'token',
  };
  const argv = [...command.split(' '), ...more].map((word) =>
    word === 'URL' ? server.url : word === 'PORT' ? String(server.port) : word,
  );
  const program = start(argv, { env });
  while (server.received.length === 0) await new Promise(setImmediate);
  const before = [program.stdout(), program.stderr()];
  program.stop();
  expect(await program.code).toBe(130);
  expect([program.stdout(), program.stderr()]).toEqual(before);
  expect(server.received).toHaveLength(1);
});
