import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { receiver } from './support/receiver.ts';
import { run, start } from './support/run.ts';

// What a person sees in a terminal of 80 columns, with two receivers: one handles, the other has the
// wrong secret.
const COLUMNS = 80;
let simulator: Simulator;
const receivers: Awaited<ReturnType<typeof receiver>>[] = [];
let env: Record<string, string>;

beforeAll(async () => {
  simulator = await startSimulator({ clock: 'manual', seed: 7 });
  const answers = [
    { status: 200, body: '{"outcome":"handled"}' },
    { status: 401, body: '{"outcome":"signature-mismatch"}' },
  ];
  for (const answer of answers) {
    const one = await receiver(() => answer);
    receivers.push(one);
    simulator.rules.create({
      trigger: 'call:started',
      scope: 'workspace',
      name: `To receiver ${String(receivers.length)} of ${String(answers.length)}`,
      actions: [{ url: one.url }],
    });
  }
  env = { CALL_WEBHOOKS_SIMULATOR: simulator.url, NO_COLOR: '1' };
});
afterAll(async () => {
  await simulator.close();
  for (const one of receivers) await one.close();
});

/** Runs a command at a terminal. No line may be wider than it, and no word of prose may be broken. */
async function see(...argv: string[]) {
  const ran = await run(argv, { env, terminal: true, columns: COLUMNS });
  expectToFit(ran.stdout + ran.stderr);
  return ran;
}

function expectToFit(output: string): void {
  for (const line of stripVTControlCharacters(output).split(/[\r\n]/))
    expect(line.length).toBeLessThanOrEqual(COLUMNS);
}

const url = (at: number) => receivers[at]?.url.replace('http://', '') ?? '';

test('trigger --wait says which receiver failed, why, and how to find the fix', async () => {
  const { code, stdout, stderr } = await see('trigger', 'call:started', '--wait');
  expect(code).toBe(1);
  const [handled, refused, where, why, fix] = stdout.split('\n');
  expect(handled).toMatch(/^\d\d:\d\d:\d\dZ {2}call:started +\w{8} {2}200 handled {2}\S+$/);
  expect(url(0)).toContain(/\S+$/.exec(handled ?? '')?.[0]);
  expect(refused).toMatch(/^\d\d:\d\d:\d\dZ {2}call:started +\w{8} {2}401 signature-mismatch$/);
  expect(where).toMatch(new RegExp(`^ {11}${url(1).replace('127.0.0.1:', '')} {2}retry in .+$`));
  expect(why).toBe('           No configured secret matches the signature of the raw body.');
  expect(fix).toBe('           To fix it: npx call-webhooks explain signature-mismatch');
  expect(stderr).toContain('1 of 2 not acknowledged. Details: npx call-webhooks events show');
});

test('events list and show name the receiver, the rule and the outcome', async () => {
  const { stdout } = await see('events', 'list');
  const [head, first, second] = stdout.split('\n');
  expect(head).toMatch(/^id +state +response +receiver +event/);
  expect(first).toMatch(/ acknowledged +200 handled /);
  expect(second).toMatch(/ waiting +401 signature-mismatch /);
  const [id = ''] = second?.split(/ {2,}/) ?? [];
  const shown = await see('events', 'show', id);
  expect(shown.stdout).toContain(`receiver  ${receivers[1]?.url ?? ''}`);
  expect(shown.stdout).toContain('To receiver 2 of 2');
  expect(shown.stdout).toContain('To fix it: npx call-webhooks explain signature-mismatch');
});

test('events tail explains a failure once, and again after another one', async () => {
  const tail = start(['events', 'tail'], { env, terminal: true, columns: COLUMNS });
  await tail.until('Watching');
  await see('trigger', 'call:started', '--wait', '-n', '2');
  await tail.until(/(401 signature-mismatch[^]*){2}retry in/);
  tail.stop();
  await tail.code;
  expectToFit(tail.stdout() + tail.stderr());
  expect(tail.stdout().match(/No configured secret/g)).toHaveLength(1);
});

test('with --wide nothing is cut', async () => {
  const { stdout } = await run(['events', 'list', '--wide'], {
    env,
    terminal: true,
    columns: COLUMNS,
  });
  expect(stdout).not.toContain('…');
  expect(stdout).toContain('To receiver 2 of 2');
  expect(stdout).toMatch(/^[\da-f]{24} /m);
});

test('with --wide, messages are not broken either', async () => {
  const given = { env, terminal: true, columns: 40 };
  const message = 'To see the cause and the fix: npx call-webhooks explain OUTCOME';
  expect((await run(['explain'], given)).stderr).not.toContain(message);
  expect((await run(['explain', '--wide'], given)).stderr).toBe(`${message}\n`);
});

test('simulate prints secrets and addresses whole, to be copied', async () => {
  const secret = `whsec_${Buffer.alloc(64, 'key').toString('base64')}`;
  const url = `http://127.0.0.1:9/${'path/'.repeat(20)}`;
  const flags = ['--port', '0', '--clock', 'manual', '--forward-to', url];
  const simulate = start(['simulate', ...flags], {
    env: { NO_COLOR: '1', CALL_WEBHOOK_SECRET: secret },
    terminal: true,
    columns: 60,
  });
  await simulate.until('Press Ctrl-C');
  simulate.stop();
  await simulate.code;
  expect(simulate.stderr()).toContain(secret);
  expect(simulate.stderr()).toContain(url);
});

test('events list says when there are more, and how to see them', async () => {
  const { stderr } = await see('events', 'list', '-n', '2');
  expect(stderr).toBe(
    'The terminal is too narrow for: attempts, created, rule. To see them: --wide\nThese are the latest 2. For more: --limit 20\n',
  );
});

test('calls is a table, with whole ids and times in UTC', async () => {
  const { stdout, stderr } = await see('calls');
  const [head, row] = stdout.split('\n');
  // No column is cut down to some letters: it is shown, or named.
  const named = /too narrow for: ([^.]+)\./.exec(stderr.replace('\n', ' '))?.[1]?.split(', ') ?? [];
  const [record] = (await run(['calls', '--json'], { env })).records();
  const shown = head?.trim().split(/ {2,}/) ?? [];
  expect([...shown, ...named]).toEqual(Object.keys(record ?? {}));
  expect(named.length).toBeGreaterThan(0);
  expect(head).toMatch(/^_id +/);
  expect(row).toMatch(/^[\da-f]{24} /);
  expect((await run(['calls', '--wide'], { env })).stdout).toMatch(/\d{4}-\d\d-\d\d [\d:]{8}Z/);
});

test.each([
  [['rules', 'list']],
  [['clock', 'show']],
  [['chaos', 'show']],
  [['trigger']],
  [['explain']],
  [['explain', 'missing-header']],
  [['explain', 'ECONNREFUSED']],
  [['activity']],
  [['rules', 'pause', 'nosuch']],
  [['rotate', 'a', 'b', '--show-secret']],
  [['help', 'nosuch']],
  [['recording', 'nosuch']],
  [['resend', 'nosuch']],
  [['reconcile', '--since', '1h', '--until', '0s', '--dry-run']],
  [['status']],
  [['dead-letters', 'list', '--store', 'nosuch:store']],
  [['send', 'call:started', '--to', 'https://a-rather-long-name.example.com/hook']],
])('%j fits, and an error names its fix', async (argv) => {
  const { code, stderr } = await see(...argv);
  if (code !== 0) expect(stderr).toMatch(/^error: .+\n[^]*^fix: {3}./m);
});

test('check says that a receiver fails at everything', async () => {
  const broken = await receiver(() => ({ status: 500 }));
  const { code, stdout, stderr } = await see('check', '--to', broken.url);
  await broken.close();
  expect(code).toBe(1);
  expect(stdout).toContain('2 passed, 0 failed, 5 skipped');
  expect(stderr).toContain(
    'The receiver returns 500 for every request, so nothing could be tested.',
  );
});

test('events list takes one line each, also for the longest event and outcome', async () => {
  const [, refusing] = receivers;
  simulator.rules.setRecordingWebhook({ url: refusing?.url ?? '' });
  await see('trigger', 'call:recording-available', '--wait');
  const { stdout } = await see('events', 'list');
  const [, port = ''] = url(1).split(':');
  for (const line of stdout.split('\n').filter(Boolean).slice(1))
    expect(line).toMatch(/^[\da-f]{8} .* \d+\/hook +call:/);
  expect(stdout).toContain(` ${port} `);
});
