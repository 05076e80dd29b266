import { afterEach, describe, expect, test } from '@jest/globals';
import { sign } from '@call-webhooks/core';
import { deadLetter } from '@call-webhooks/contract-tests';
import { deadLetterId } from '@call-webhooks/core/stores';
import { setup } from './support/dead-letters.ts';
import { faultyReceiver } from './support/faulty-receiver.ts';
import { receiver, SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

// What a person sees at a glance: green is well, yellow may pass, red needs somebody.

const NAMES: Record<string, string> = { 1: 'b', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow' };
/** A text whose colors are written as tags, such as `<red>500</>`. */
const tagged = (text: string): string =>
  text.replace(new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`, 'g'), (_code, number: string) => {
    const name = NAMES[number] ?? (number === '36' ? 'cyan' : undefined);
    return name === undefined ? '</>' : `<${name}>`;
  });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that gives each path its answer, as a simulator would. */
async function serving(answers: Record<string, unknown>) {
  const server = await receiver(({ url }) => {
    const [path = ''] = url.split('?');
    return { status: 200, body: JSON.stringify(answers[path.replace('/_sim', '')] ?? []) };
  });
  closing.push(() => server.close());
  return { CALL_WEBHOOKS_SIMULATOR: `http://127.0.0.1:${server.port}` };
}
const colored = async (argv: readonly string[], env: Record<string, string>) =>
  tagged((await run([...argv, '--color'], { env, columns: 300 })).stdout)
    .trimEnd()
    .split('\n');

test.each([
  [200, 'green', 'acknowledged'],
  [202, 'green', 'acknowledged'],
  [301, 'red', 'the service would retry in about 5 minutes'],
  [404, 'red', 'the service would pause the rule at once'],
  [503, 'red', 'the service would retry in about 5 minutes'],
])('send: %d is %s', async (status, color, effect) => {
  const target = await receiver(() => ({ status }));
  closing.push(() => target.close());
  const [line = ''] = await colored(['send', 'call:started', '--to', target.url], {
    CALL_WEBHOOK_SECRET: SECRET,
  });
  expect(line.replace(/\d+ ms/, '1 ms')).toBe(`<${color}>${status}</>  <dim>1 ms</>  ${effect}`);
});

test('listen: a status below 300 is green, below 500 yellow, and else red', async () => {
  let status = 200;
  const behind = await receiver(() => ({ status }));
  closing.push(() => behind.close());
  const argv = ['listen', '--port', '0', '--no-body', '--color', '--forward-to', behind.url];
  const listener = start(argv, { env: { CALL_WEBHOOK_SECRET: SECRET }, columns: 300 });
  await listener.until('Press Ctrl-C');
  const [url = ''] = /http:\/\/127[\d.:]+/.exec(listener.stderr()) ?? [];
  const body = '{"eventName":"call:started","callId":"c-1"}';
  for (status of [299, 400, 499, 500, 599])
    await fetch(url, { method: 'POST', body, headers: await sign({ secret: SECRET, body }) });
  await fetch(url, { method: 'POST', body });
  await listener.until('missing-header');
  listener.stop();
  await listener.code;
  const lines = tagged(listener.stdout())
    .split('\n')
    .filter((line) => line.includes('verified'))
    .map((line) => line.replace(/^<dim>\S+Z<\/> {2}/, ''));
  const genuine = '<b>call:started</>  <dim>c-1</>  <green>verified</>';
  expect(lines).toEqual([
    ...[
      ['green', 299],
      ['yellow', 400],
      ['yellow', 499],
      ['red', 500],
      ['red', 599],
    ].map(([color, told]) => `${genuine}  <${color}>${told}</>  forwarded`),
    '<b>POST /</>  <red>not verified</>  <yellow>401</>  missing-header',
  ]);
});

test('check: what passed is green, what failed is red, and what was skipped is dim', async () => {
  const target = await faultyReceiver([SECRET], ['replay']);
  closing.push(() => target.close());
  const failed = await colored(['check', '--to', target.url], { CALL_WEBHOOK_SECRET: SECRET });
  expect(failed[0]).toBe('<green>ok     </>  signature/valid         200');
  expect(failed[6]).toBe('<red>FAILED </>  replays/at-once         200 for delivery 2');
  expect(failed.at(-1)).toBe('<red>6 passed, 1 failed, 0 skipped</>');
  const skipped = await colored(['check', '--to', target.url], {});
  expect(skipped.slice(0, 2)).toEqual([
    '<dim>skipped</>  signature/valid         it needs the signing secret',
    '<green>ok     </>  signature/other-secret  401',
  ]);
  expect(skipped.slice(-2)).toEqual([
    '<dim>5 skipped: it needs the signing secret</>',
    '<green>2 passed, 0 failed, 5 skipped</>',
  ]);
});

test('doctor: ok is green, a warning yellow, what is bad red, and what was skipped dim', async () => {
  const lines = await colored(['doctor', '--to', '1/hook'], { CALL_WEBHOOK_SECRET: SECRET });
  const labels = lines.flatMap((line) => /^<(\w+)>(\w+) *<\/> {2}(\w+)/.exec(line)?.slice(1) ?? []);
  const rows = Array.from({ length: labels.length / 3 }, (_, at) =>
    labels.slice(3 * at, 3 * at + 3).join(' '),
  );
  expect(rows).toEqual(
    expect.arrayContaining([
      ...['yellow warn secrets', 'green ok proxy', 'dim skipped store', 'red bad receiver'],
    ]),
  );
});

test('verify: verified is green, a refusal red, and its cause yellow', async () => {
  const body = '{"a":1}';
  const given = Object.entries(await sign({ secret: SECRET, body }));
  const flags = given.flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const env = { CALL_WEBHOOK_SECRET: SECRET };
  const [verified = ''] = await colored(['verify', ...flags, '--data', body], env);
  expect(verified).toMatch(/^<green>verified<\/> {2}signed 20\S+ \S+Z {2}<dim>\S+<\/>$/);
  const [refused = '', cause = ''] = await colored(['verify', ...flags, '--data', '{"a": 1}'], env);
  expect(refused).toMatch(/^<red>signature-mismatch<\/> {2}/);
  expect(cause).toMatch(/^<yellow>cause:<\/> the body was parsed and written again with spaces/);
});

const ACTION = { _id: 'action-1', url: 'http://127.0.0.1:3000/hook', signed: true };
const rule = (more: object) => ({
  ...{ _id: 'rule-1', name: 'A rule', trigger: 'call:started', scope: 'workspace' },
  ...{ state: 'active', actions: [ACTION], ...more },
});

test('rules: an active rule is green, a paused one red, and what it lacks is yellow', async () => {
  const env = await serving({
    '/rules': [
      rule({}),
      rule({ state: 'paused', pauseReason: 'responded-404' }),
      rule({ state: 'paused', pauseReason: 'last-attempt-failed', scope: 'user', ownerId: 'u-1' }),
      rule({ state: 'paused', actions: [{ ...ACTION, signed: false }] }),
      rule({ actions: [] }),
    ],
  });
  const [, ...lines] = await colored(['rules', 'list'], env);
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'rule-1  call:started  <green>active</>  action-1  3000/hook  A rule',
    'rule-1  call:started  <red>paused: 404</>  action-1  3000/hook  A rule',
    'rule-1  call:started  <red>paused: last attempt failed</>  action-1  3000/hook  A rule (user u-1)',
    'rule-1  call:started  <red>paused: by hand</>  action-1  3000/hook <yellow>unsigned</>  A rule',
    'rule-1  call:started  <green>active</>  <yellow>no action</>  A rule',
  ]);
});

test('events: what was acknowledged is green, what failed is red, and all else yellow', async () => {
  const event = (state: string, response?: object, outcome?: string) => ({
    ...{ _id: 'event-1', createdAt: 0, eventName: 'call:started', state, url: ACTION.url },
    ...{ callId: 'c-1', ruleId: 'rule-1', ruleName: 'A rule' },
    attempts: response
      ? [{ number: 1, startedAt: 0, response, outcome, chaos: [], kind: 'scheduled' }]
      : [],
  });
  const status = (number: number) => ({ kind: 'status', status: number });
  const env = await serving({
    '/events': [
      event('acknowledged', status(299), 'handled'),
      event('failed', status(404)),
      event('failed', { kind: 'timeout' }),
      event('waiting', status(300)),
      event('waiting', { kind: 'connection-error', code: 'ECONNREFUSED' }),
      ...['in-flight', 'dropped', 'held'].map((state) => event(state)),
    ],
  });
  const [, ...lines] = await colored(['events', 'list'], env);
  const cells = lines.map((line) => line.split(/ {2,}/).slice(1, 3));
  expect(cells).toEqual([
    ['<green>acknowledged</>', '<green>299 handled</>'],
    ['<red>failed</>', '<red>404</>'],
    ['<red>failed</>', '<red>timeout</>'],
    ['<yellow>waiting</>', '<yellow>300</>'],
    ['<yellow>waiting</>', '<red>ECONNREFUSED</>'],
    ...['in-flight', 'dropped', 'held'].map((state) => [`<yellow>${state}</>`, '3000/hook']),
  ]);
});

test('chaos: a mode that is off is dim, and one that is on yellow; clock: what is due is dim', async () => {
  const env = await serving({
    '/chaos': { duplicate: 0, replay: 0.25 },
    '/clock': { now: 0, mode: 'manual', nextDueAt: 90_000, inFlight: 2 },
  });
  expect(await colored(['chaos'], env)).toEqual([
    '<dim>duplicate</>  <dim>off</>',
    '<dim>replay   </>  <yellow>0.25</>',
  ]);
  expect(await colored(['clock'], env)).toEqual([
    '<b>1970-01-01 00:00:00Z</>  manual  <dim>next in 1 min 30 s, 2 in flight</>',
  ]);
});

describe('dead letters', () => {
  test('that are being redriven are yellow; of one, the name is bold, and the reason red', async () => {
    const { deadLetters, env } = await setup();
    const failedAt = new Date(Date.UTC(2026, 0, 2));
    const letter = deadLetter({ failedAt, errorText: 'Error: down' });
    await deadLetters.put(letter);
    const id = await deadLetterId(letter);
    const [, free] = await colored(['dead-letters', 'list'], env);
    expect(free).toMatch(/ {2}Error: down$/);
    await deadLetters.claim(id, { token: 'redrive', leaseMs: 60_000 });
    const [, claimed] = await colored(['dead-letters', 'list'], env);
    expect(claimed).toMatch(/ {2}<yellow>redrive in progress; Error: down<\/>$/);
    const [head, first, ...shown] = await colored(['dead-letters', 'show', id], env);
    expect([head, first]).toEqual([
      '<b>call:completed</>  <red>handler-failed</>',
      `<dim>id               </>  ${id}`,
    ]);
    expect(shown).toContain('<dim>2026-01-02 00:00:00Z</>  webhook');
  });
});

test('each output is colored if it is a terminal itself, whatever the other one is', async () => {
  const target = await receiver(() => ({ status: 200 }));
  closing.push(() => target.close());
  const sends = ['send', 'call:started', '--to', target.url];
  const colors = async (terminal: boolean | 'stdout' | 'stderr') => {
    const given = { env: { CALL_WEBHOOK_SECRET: SECRET }, terminal };
    const [sent, refused] = [await run(sends, given), await run(['sned'], given)];
    return [sent.stdout, refused.stderr].map((written) => tagged(written) !== written);
  };
  expect(await colors(true)).toEqual([true, true]);
  expect(await colors('stdout')).toEqual([true, false]);
  expect(await colors('stderr')).toEqual([false, true]);
  expect(await colors(false)).toEqual([false, false]);
});
