import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { isSigned, receiver } from './support/receiver.ts';
import { run, start } from './support/run.ts';

const [FIRST, SECOND, THIRD] = [generateSecret(), generateSecret(), generateSecret()] as const;
const folder = mkdtempSync(join(tmpdir(), 'cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ready {
  url: string;
  secrets: { ruleId: string; actionId: string; trigger: string; secret: string }[];
}

/** Runs `simulate`, and returns what it said when it was ready. */
async function simulated(
  argv: readonly string[],
  env: Record<string, string> = {},
  whileRunning: (ready: Ready) => Promise<unknown> = () => Promise.resolve(),
): Promise<Ready> {
  const flags = ['--port', '0', '--clock', 'manual', '--seed', '7', '--json'];
  const simulator = start(['simulate', ...flags, ...argv], { env });
  await simulator.until('"ready"');
  const ready = JSON.parse(simulator.stdout().split('\n')[0] ?? '') as Ready;
  await whileRunning(ready);
  simulator.stop();
  await simulator.code;
  return ready;
}
const secretsOf = ({ secrets }: Ready) => secrets.map(({ secret }) => secret);
const NOBODY = ['--forward-to', 'http://127.0.0.1:9/hook'];

describe('simulate', () => {
  test('signs each action with a secret of its own', async () => {
    const target = await receiver();
    const { secrets } = await simulated(['--forward-to', target.url], {}, ({ url }) =>
      run(['trigger', 'call', '--wait'], { env: { CALL_WEBHOOKS_SIMULATOR: url } }),
    );
    await target.close();
    expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(3);
    expect(target.received).toHaveLength(3);
    for (const delivery of target.received) {
      const { eventName } = JSON.parse(String(delivery.body)) as { eventName: string };
      const signers = secrets.filter(({ secret }) => isSigned(delivery, secret));
      expect(signers.map(({ trigger }) => trigger)).toEqual([eventName]);
    }
  });

  test('prints each secret with its rule and action, and the lines of an .env file', async () => {
    const flags = ['--port', '0', '--clock', 'manual', '--seed', '7', ...NOBODY];
    const simulator = start(['simulate', ...flags]);
    await simulator.until('Press Ctrl-C');
    simulator.stop();
    await simulator.code;
    const { secrets } = await simulated(NOBODY);
    const [started, completed, recording] = secrets.map(({ secret }) => secret);
    const blocks = simulator.stderr().split('\n\n');
    for (const { ruleId, actionId, trigger, secret } of secrets) {
      const block = blocks.find((one) => one.includes(`  ${secret}`));
      for (const text of [trigger, ruleId, actionId]) expect(block).toContain(text);
    }
    expect(simulator.stderr()).toContain(
      `\nCALL_WEBHOOK_SECRET=${started},${completed}\nRECORDING_WEBHOOK_SECRET=${recording}\n`,
    );
  });

  test('takes those of the environment, as it printed them', async () => {
    const env = {
      CALL_WEBHOOK_SECRET: `${FIRST},${SECOND}`,
      RECORDING_WEBHOOK_SECRET: THIRD,
    };
    expect(secretsOf(await simulated(NOBODY, env))).toEqual([FIRST, SECOND, THIRD]);
  });

  test('generates what is not given: one secret does not serve two actions', async () => {
    const calls = { CALL_WEBHOOK_SECRET: FIRST, RECORDING_WEBHOOK_SECRET: SECOND };
    const [started, completed, recording] = secretsOf(await simulated(NOBODY, calls));
    expect([started, recording]).toEqual([FIRST, SECOND]);
    expect([FIRST, SECOND]).not.toContain(completed);
    const one = await simulated([...NOBODY, '--secret', FIRST]);
    expect(new Set(secretsOf(one)).size).toBe(3);
  });

  test('reads again what --secret-out wrote, in the same order', async () => {
    const file = join(folder, 'secrets');
    const written = await simulated([...NOBODY, '--secret-out', file]);
    expect(readFileSync(file, 'utf8')).toBe(
      written.secrets
        .map(({ secret, trigger, actionId }) => `${secret} # ${trigger}, action ${actionId}\n`)
        .join(''),
    );
    const read = await simulated([...NOBODY, '--seed', '8', '--secret-file', file]);
    expect(secretsOf(read)).toEqual(secretsOf(written));
  });

  test.each([
    ['a given one', ['--secret', FIRST]],
    ['a generated one', []],
  ])('shares %s with --shared-secret alone', async (_what, argv) => {
    const ready = await simulated([...NOBODY, '--shared-secret', ...argv]);
    expect(secretsOf(ready)).toHaveLength(3);
    expect(new Set(secretsOf(ready)).size).toBe(1);
    if (argv.length > 0) expect(secretsOf(ready)[0]).toBe(FIRST);
  });
});

describe('rules create', () => {
  const rulesOf = async (env: Record<string, string>, ...argv: string[]) => {
    let stdout = '';
    await simulated([], {}, async ({ url }) => {
      const known = { ...env, CALL_WEBHOOKS_SIMULATOR: url };
      const create = ['rules', 'create', '--url', '9/hook', '--show-secret', '--json'];
      stdout = (await run([...create, ...argv], { env: known })).stdout;
    });
    return [...stdout.matchAll(/"secret":"(whsec_[^"]+)"/g)].map(([, secret]) => secret);
  };

  test('give each action a secret of its own', async () => {
    expect(new Set(await rulesOf({})).size).toBe(3);
    const env = { CALL_WEBHOOK_SECRET: `${FIRST} ${SECOND}`, RECORDING_WEBHOOK_SECRET: THIRD };
    expect(await rulesOf(env)).toEqual([FIRST, SECOND, THIRD]);
  });
});

test('listen takes the secrets of all actions from the environment', async () => {
  const env = { CALL_WEBHOOK_SECRET: `${FIRST},${SECOND}`, RECORDING_WEBHOOK_SECRET: THIRD };
  const listener = start(['listen', '--port', '0', '--no-body'], { env });
  await listener.until('Listening at');
  const [url = ''] = /http:\/\/\S+/.exec(listener.stderr()) ?? [];
  for (const secret of [FIRST, SECOND, THIRD])
    expect((await run(['send', 'call:started', '--to', url, '--secret', secret])).code).toBe(0);
  listener.stop();
  await listener.code;
});
