import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { receiver, SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-settings-'));
const empty = join(folder, 'empty.txt');
const token = join(folder, 'token.txt');
writeFileSync(empty, ' \n');
writeFileSync(token, 'token-1\n');
afterAll(() => rmSync(folder, { recursive: true }));

/** A service that nobody runs. */
const BASE = { CALL_WEBHOOKS_BASE_URL: 'http://127.0.0.1:1' };

describe('a setting that is empty counts as none, as with an unset variable of a deployment', () => {
  test.each<[argv: string[], env: Record<string, string>, code: number, told: string]>([
    [['calls'], { ...BASE }, 2, 'No API token is given.'],
    [['calls'], { ...BASE, CALL_WEBHOOKS_API_TOKEN: '' }, 2, 'No API token is given.'],
    [['calls', '--api-token', ''], { ...BASE }, 2, 'No API token is given.'],
    [['calls', '--api-token-file', empty], { ...BASE }, 2, 'No API token is given.'],
    [['calls'], { CALL_WEBHOOKS_BASE_URL: '' }, 3, "The service's URL is not given."],
    [['status'], { CALL_WEBHOOKS_STORE: '' }, 2, 'No store is given.'],
    [['status', '--store', ''], {}, 2, 'No store is given.'],
    [['dead-letters', 'list'], { CALL_WEBHOOKS_STORE: '' }, 2, 'No store is given.'],
    [['erase', '--call', 'c1', '--yes'], { CALL_WEBHOOKS_STORE: '' }, 2, 'No store is given.'],
    [
      ['send', 'call:completed', '--to', '3000/hook'],
      { CALL_WEBHOOK_SECRET: '' },
      2,
      'No signing secret is given.',
    ],
  ])('%j with %j', async (argv, env, code, told) => {
    const result = await run(argv, { env });
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(told) });
  });
});

describe('settings that exclude each other are refused', () => {
  test.each<[argv: string[], told: string]>([
    [['calls', '--api-token', 'a', '--api-token-file', token], '--api-token and --api-token-file'],
    [
      ['send', 'call:completed', '--to', '3000', '--secret', SECRET, '--secret-file', token],
      '--secret and --secret-file',
    ],
    [['erase', '--tenant', 'a', '--all-tenants', '--yes'], '--tenant and --all-tenants'],
    [['dead-letters', 'redrive', 'id', '--all', '--to', '3000'], 'cannot be combined'],
    [['dead-letters', 'redrive', 'id', '--event', 'e', '--to', '3000'], 'cannot be combined'],
    [['reconcile', '--since', '1h'], 'No receiver is given.'],
  ])('%j', async (argv, told) => {
    const env = { ...BASE, CALL_WEBHOOKS_STORE: `sqlite:${token}` };
    const { code, stderr } = await run(argv, { env: { ...env, CALL_WEBHOOK_SECRET: SECRET } });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(told) });
  });
});

test.each([
  ['--api-token-file', 'token-1'],
  ['--api-token', 'token-2'],
])(
  'a token of %s is preferred to that of the environment, and reaches the service',
  async (flag, sent) => {
    const service = await receiver(() => ({ status: 200, body: '{"results":[]}' }));
    const env = {
      CALL_WEBHOOKS_BASE_URL: service.url.replace('/hook', ''),
      CALL_WEBHOOKS_API_TOKEN: 'other',
    };
    const given = flag === '--api-token' ? sent : token;
    await run(['calls', flag, given], { env });
    expect(JSON.stringify(service.received[0]!.headers)).toContain(sent);
    expect(JSON.stringify(service.received[0]!.headers)).not.toContain('other');
    await service.close();
  },
);
