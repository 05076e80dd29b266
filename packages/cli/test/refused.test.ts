import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SECRET } from './support/receiver.ts';
import { run, start, type Run } from './support/run.ts';

const REST = ['activity', 'calls', 'recording 1 -o -', 'rotate 1 2 --show-secret --yes'];

/**
 * Nothing is listening at the addresses of the receiver, another simulator and the service. A port that
 * was free a moment ago could be given to another test, but never one as low as this.
 */
const nobody = 'http://127.0.0.1:2/hook';
let simulator: Run;
let env: Record<string, string>;
/** The client retries for two seconds, so these run in parallel with the rest. */
const asked = new Map<string, ReturnType<typeof run>>();

beforeAll(async () => {
  const service = { CALL_WEBHOOKS_BASE_URL: nobody, CALL_WEBHOOKS_API_TOKEN: 'token' };
  for (const command of REST) asked.set(command, run(command.split(' '), { env: service }));
  const argv = ['simulate', '--forward-to', nobody, '--port', '0', '--clock', 'manual', '--json'];
  simulator = start(argv, { env: { CALL_WEBHOOK_SECRET: SECRET } });
  await simulator.until('"ready"');
  const ready = JSON.parse(simulator.stdout().split('\n')[0] ?? '') as { url: string };
  env = { CALL_WEBHOOK_SECRET: SECRET, CALL_WEBHOOKS_SIMULATOR: ready.url };
});
afterAll(async () => {
  simulator.stop();
  await simulator.code;
});

const cli = (...argv: string[]) => run(argv, { env });

describe('no receiver', () => {
  test('a failed event of the simulator is exit code 1: it will be retried', async () => {
    const { code, stdout } = await cli('trigger', 'call:started', '--wait');
    expect(code).toBe(1);
    expect(stdout).toMatch(/ECONNREFUSED .+ retry in/);
  });

  test('resend is exit code 1, as the simulator sends it', async () => {
    const [last] = (await cli('events', 'list', '-n', '1', '--json')).records();
    const { code, stdout } = await cli('resend', String(last?.['_id']));
    expect(code).toBe(1);
    expect(stdout).toContain('ECONNREFUSED');
  });

  test('an unknown host name has its own fix', async () => {
    const argv = ['send', 'call:started', '--to', 'http://nobody.invalid/', '--allow-external'];
    const { code, stderr } = await cli(...argv);
    expect(code).toBe(3);
    expect(stderr).toMatch(/\((?:ENOTFOUND|EAI_AGAIN)\)\.\nfix: {3}Check the host name, and/);
  });
});

describe('no simulator', () => {
  test.each([
    'trigger call',
    'trigger call --wait',
    'trigger rotation',
    'events list',
    'events show 1',
    'events tail',
    'resend 1',
    'clock show',
    'clock advance 6m',
    'clock next',
    'clock run',
    'chaos show',
    'chaos set duplicate=0.2',
    'chaos off',
    'rules list',
    'rules create --url http://127.0.0.1:3000/hook',
    'rules pause 1',
    'rules resume 1',
    'rules remove 1',
    'rotate 1 2 --show-secret',
  ])('%s is exit code 3, with a fix', async (command) => {
    const { code, stdout, stderr } = await cli(...command.split(' '), '--simulator', nobody);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe(
      `error: No simulator is running at ${new URL(nobody).origin} (ECONNREFUSED).\n` +
        'fix:   Start one in another terminal: npx call-webhooks simulate --forward-to URL\n',
    );
  });

  test('a simulator that stops while it is watched is exit code 3, with a fix', async () => {
    const other = start(['simulate', '--port', '0', '--json']);
    await other.until('"ready"');
    const { url } = JSON.parse(other.stdout()) as { url: string };
    const tail = start(['events', 'tail', '--simulator', url]);
    await tail.until('Watching');
    other.stop();
    expect(await tail.code).toBe(3);
    expect(tail.stderr()).toContain(`The simulator at ${url} has stopped.\nfix:   Start it again`);
    await other.code;
  });
});

test.each(REST)('without a service, %s is exit code 3, with a fix', async (command) => {
  const { code, stdout, stderr } = (await asked.get(command))!;
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(/\(ECONNREFUSED\)\nfix: {3}Check the service's URL: \w+ or --base-url\./);
});
