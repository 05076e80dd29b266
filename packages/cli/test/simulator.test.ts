import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isSigned, receiver, SECRET } from './support/receiver.ts';
import { run, start, type Run } from './support/run.ts';

// One simulator with a manual clock, and a receiver that none of our packages had a part in.
let simulator: Run;
let target: Awaited<ReturnType<typeof receiver>>;
let status = 200;
let env: Record<string, string>;
let ready: { url: string; apiToken: string; secrets: { secret: string }[] };

beforeAll(async () => {
  target = await receiver(() => ({ status }));
  const flags = [
    '--port',
    '0',
    '--clock',
    'manual',
    '--seed',
    '7',
    '--json',
    '--retry-every',
    '10s',
  ];
  simulator = start(['simulate', '--forward-to', target.url, '--shared-secret', ...flags], {
    env: { CALL_WEBHOOK_SECRET: SECRET },
  });
  await simulator.until('"ready"');
  ready = JSON.parse(simulator.stdout().split('\n')[0] ?? '') as typeof ready;
  env = {
    CALL_WEBHOOKS_SIMULATOR: ready.url,
    CALL_WEBHOOKS_BASE_URL: ready.url,
    CALL_WEBHOOKS_API_TOKEN: ready.apiToken,
  };
});
afterAll(async () => {
  simulator.stop();
  expect(await simulator.code).toBe(130);
  await target.close();
});

const cli = (...argv: string[]) => run(argv, { env });
const records = async (...argv: string[]) => (await cli(...argv, '--json')).records();

describe('trigger', () => {
  test('waits for a whole call', async () => {
    const { code, stdout } = await cli(
      'trigger',
      'call',
      '--wait',
      '--set',
      'calledName=Ada Lovelace',
    );
    expect(code).toBe(0);
    expect(stdout.match(/acknowledged/g)).toHaveLength(3);
    expect(target.received).toHaveLength(3);
    expect(target.received.every((one) => isSigned(one))).toBe(true);
    expect(String(target.received[0]?.body)).toContain('"recipientName":"Ada Lovelace"');
  });

  test.each(['call:started', 'call:completed', 'call:recording-available'])(
    'waits for %s alone',
    async (name) => {
      const sent = (await records('trigger', name, '--wait')) as {
        event: { eventName: string; state: string };
      }[];
      expect(sent.map(({ event }) => event)).toMatchObject([
        { eventName: name, state: 'acknowledged' },
      ]);
    },
  );

  test('a failing receiver is exit code 1, until the retry succeeds', async () => {
    status = 500;
    const { code, stdout, stderr } = await cli('trigger', 'call:started', '--wait');
    expect(code).toBe(1);
    expect(stdout).toMatch(/500 .+ retry in [\d.]+ s/);
    expect(stderr).toContain('events show');
    status = 200;
    expect((await records('events', 'list', '--state', 'waiting')).length).toBe(1);
    expect((await cli('clock', 'advance', '15s')).code).toBe(0);
    expect(await records('events', 'list', '--state', 'waiting')).toEqual([]);
  });

  test('without an argument all are listed, and unknown fields of a call are refused', async () => {
    expect(await records('trigger', 'message')).toEqual([{ type: 'done', scenario: 'message' }]);
    expect((await records('trigger')).map(({ name }) => name)).toContain('rotation');
    const { code, stderr } = await cli('trigger', 'call', '--set', 'nope=1');
    expect(code).toBe(2);
    expect(stderr).toContain('calledName');
  });
});

describe('--field-name', () => {
  test('of trigger names the fields of its call', async () => {
    const flags = ['--field-name', 'placedBy=owner', '--field-name', 'calledName=contact'];
    const argv = ['trigger', 'call:completed', '--wait', ...flags, '--set', 'calledName=Ada'];
    expect((await cli(...argv)).code).toBe(0);
    const body = JSON.parse(String(target.received.at(-1)?.body)) as object;
    expect(body).toMatchObject({ owner: expect.any(String) as unknown, contact: 'Ada' });
    expect(body).not.toHaveProperty('placedBy');
    expect(body).not.toHaveProperty('recipientName');
    expect(body).toHaveProperty('endedAt');
    expect((await cli('trigger', 'call', '--field-name', 'owner=x')).stderr).toContain('placedBy');
  });

  test('of simulate names those of all calls', async () => {
    const to = ['--forward-to', target.url, '--port', '0', '--clock', 'manual', '--json'];
    const other = start(['simulate', ...to, '--field-name', 'endedAt=finished']);
    await other.until('"ready"');
    const { url } = JSON.parse(other.stdout().split('\n')[0] ?? '') as typeof ready;
    const given = { env: { CALL_WEBHOOKS_SIMULATOR: url } };
    await run(['trigger', 'call:completed', '--wait'], given);
    expect(JSON.parse(String(target.received.at(-1)?.body))).toHaveProperty('finished');
    const [record] = (await run(['calls', '--json'], given)).records();
    expect(record).toHaveProperty('finished');
    other.stop();
    await other.code;
  });
});

describe('--timestamps', () => {
  const HOUR = 3_600; // seconds
  test.each([
    ['the wall clock, by default', [], 0],
    ["the simulator's clock", ['--timestamps', 'clock'], HOUR],
  ])('signs with the time of %s', async (_name, flags, ahead) => {
    const to = ['--forward-to', target.url, '--port', '0', '--clock', 'manual', '--json'];
    const other = start(['simulate', ...to, ...flags]);
    await other.until('"ready"');
    const { url } = JSON.parse(other.stdout().split('\n')[0] ?? '') as typeof ready;
    const given = { env: { CALL_WEBHOOKS_SIMULATOR: url } };
    await run(['clock', 'advance', '1h'], given);
    await run(['trigger', 'call:started', '--wait'], given);
    const signedAt = Number(target.received.at(-1)?.headers['x-service-timestamp']);
    expect(Math.abs(signedAt - Date.now() / 1_000 - ahead)).toBeLessThan(HOUR / 2);
    other.stop();
    await other.code;
  });
});

describe('events and resend', () => {
  test('list, show by the beginning of an id, and tail', async () => {
    const tail = start(['events', 'tail', '--json'], { env });
    await tail.until('"ready"');
    await cli('trigger', 'call:started', '--wait');
    const { stderr } = await cli('events', 'list', '-n', '1');
    expect(stderr).toContain('These are the latest 1. For more: --limit 10');
    const [last] = (await records('events', 'list', '-n', '1')) as { _id: string }[];
    const id = String(last?._id);
    const { stdout } = await cli('events', 'show', id.slice(0, 10));
    expect(stdout).toContain('X-Service-Signature');
    expect(stdout).toContain('"eventName": "call:started"');
    await cli('resend', id);
    await tail.until('"copiedBy":"resend"');
    tail.stop();
    expect(await tail.code).toBe(130);
    const callId = String((last as { callId?: string }).callId);
    const ofCall = await records('events', 'list', '--call', callId.slice(0, 8), '-n', '1');
    expect(ofCall).toMatchObject([{ callId }]);
    expect((await cli('events', 'show', 'zzz')).code).toBe(2);
    expect((await cli('events', 'list', '--state', 'lost')).code).toBe(2);
  });
});

describe('rules, chaos and the clock', () => {
  test('a 404 pauses the rule, which drops what waits, and resume resumes it', async () => {
    status = 500;
    const [waiting] = (await records('trigger', 'call:started', '--wait')) as {
      event: { _id: string };
    }[];
    status = 404;
    const { code, stdout } = await cli('trigger', 'call:started', '--wait');
    expect(code).toBe(1);
    expect(stdout).toContain('404: the rule is paused');
    status = 200;
    await simulator.until('"pauseReason":"responded-404"');
    const shown = await cli('events', 'show', String(waiting?.event._id));
    expect(shown.stdout).toMatch(/^attempt 1 .* dropped: the rule is paused$/m);
    const paused = (await records('rules', 'list')).find(({ state }) => state === 'paused');
    const dropped = await cli('trigger', 'call:started', '--wait');
    expect(dropped.stdout).toContain(`rules resume ${String(paused?.['_id'])}`);
    expect((await cli('rules', 'resume', String(paused?.['_id']))).stdout).toContain('active');
    expect((await cli('trigger', 'call:started', '--wait')).code).toBe(0);
  });

  test('chaos is set in part, in whole, and turned off', async () => {
    expect(await records('chaos', 'set', '--all', '10%', 'replay=0')).toMatchObject([
      { duplicate: 0.1, replay: 0 },
    ]);
    expect(await records('chaos', 'show')).toMatchObject([{ reorder: 0.1 }]);
    expect((await cli('chaos', 'set', 'nonsense=1')).stderr).toContain('duplicate');
    expect(await records('chaos', 'off')).toMatchObject([{ duplicate: 0 }]);
  });

  test('with --wait, a manual clock reaches what chaos delays', async () => {
    await cli('chaos', 'set', 'duplicate=1', 'reorder=1');
    const { code, stdout } = await cli('trigger', 'call:started', '--wait', '--timeout', '20s');
    await cli('chaos', 'off');
    expect(code).toBe(0);
    expect(stdout.match(/200 /g)?.length).toBeGreaterThan(1);
    expect((await cli('chaos', 'set', 'wrong-secret=0.5')).stderr).not.toContain('not of the form');
  });

  test('the clock advances to what is due next, and until nothing is', async () => {
    await cli('trigger', 'call');
    await cli('rules', 'pause', String((await records('rules', 'list'))[0]?.['_id']));
    await cli('rules', 'resume', String((await records('rules', 'list'))[0]?.['_id']));
    await cli('clock', 'next');
    expect(await records('clock', 'run')).toMatchObject([{ mode: 'manual', nextDueAt: null }]);
    expect((await cli('clock', 'show')).stdout).toContain('nothing is due');
  });

  test('a rule with a custom payload; its secret is shown only on request', async () => {
    const create = ['rules', 'create', '--url', target.url, '--trigger', 'call:started'];
    const argv = [...create, '--payload', '{"id":"{{callId}}"}'];
    const quiet = await cli(...argv);
    expect(quiet.stdout).not.toContain('whsec_');
    expect((await cli(...argv, '--show-secret')).stdout).toMatch(/whsec_\S{20,}/);
    expect((await cli('rules', 'create', '--url', 'https://example.com/')).stderr).toContain(
      '--allow-external',
    );
  });
});

describe('secrets', () => {
  test('are shown only on request', async () => {
    expect(new Set(ready.secrets.map(({ secret }) => secret))).toEqual(new Set([SECRET]));
    expect((await cli('rules', 'list')).stdout).not.toContain(SECRET);
    const shown = await cli('rules', 'list', '--show-secret');
    expect(shown.stdout.split('\n')[0]).toBe(SECRET);
  });

  test('are listed with rule and action', async () => {
    const rules = (await records('rules', 'list')) as {
      _id: string;
      name: string;
      actions: { _id: string }[];
    }[];
    const listed = await records('rules', 'list', '--show-secret');
    expect(listed.map(({ ruleId, actionId, rule }) => [ruleId, actionId, rule])).toEqual(
      rules.flatMap(({ _id, name, actions }) => actions.map((action) => [_id, action._id, name])),
    );
    const { stdout } = await run(['rules', 'list', '--wide'], { env });
    for (const { _id, actions } of rules)
      expect(stdout).toMatch(new RegExp(`^${_id} .*${String(actions[0]?._id)} `, 'm'));
  });
});
