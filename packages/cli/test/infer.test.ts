import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const PEOPLE = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing'];

/** The events of three calls, under field names that say nothing. */
function events(more: (at: number) => object = () => ({})): Record<string, unknown>[] {
  return PEOPLE.flatMap((name, at) => {
    const dialed = Date.UTC(2026, 0, 2 + at, 3, 4, 5);
    const callId = `call-${String(at)}`;
    const call = {
      callId,
      fromPhoneNumber: { number: '+12025550199' },
      qa: `user-${String(at)}`,
      qb: `+1202555010${String(at)}`,
      qc: `person-${String(at)}@example.com`,
      qd: name,
      qe: dialed - 1_000,
      qf: new Date(dialed).toISOString(),
      ...more(at),
    };
    const qg = new Date(dialed + 60_000).toISOString();
    return [
      { eventName: 'call:started', ...call },
      { eventName: 'call:completed', ...call, qg },
      { eventName: 'call:recording-available', callId, userId: call.qa, workspaceId: 'w-1' },
    ];
  });
}

const NAMES = {
  placedBy: 'qa',
  calledNumber: 'qb',
  calledEmail: 'qc',
  calledName: 'qd',
  createdAt: 'qe',
  dialedAt: 'qf',
  endedAt: 'qg',
};
const captured = (bodies: readonly object[]) =>
  [
    { type: 'ready', url: 'http://127.0.0.1:3000' },
    ...bodies.map((body) => ({ method: 'POST', path: '/', outcome: 'handled', body })),
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');

describe('infer', () => {
  test.each([
    ['the output of listen --json', captured(events())],
    [
      'JSON Lines',
      events()
        .map((body) => JSON.stringify(body))
        .join('\n'),
    ],
    ['a JSON array', JSON.stringify(events())],
  ])('finds all seven names in %s, and prints no values', async (_what, content) => {
    const { code, stdout, stderr } = await run(['infer', file('capture', content)]);
    expect(code).toBe(0);
    for (const [setting, name] of Object.entries(NAMES))
      expect(stdout).toMatch(new RegExp(`^ {2}${setting}: '${name}', // \\w`, 'm'));
    expect(stderr).toContain('Read 6 call events, 3 recording events and 0 pages; ignored 0.');
    expect(stdout + stderr).not.toMatch(/Ada|2025550|@example/);
  });

  test('lists every field that matches, and says which names were not found', async () => {
    const both = events((at) => ({ other: `second-${String(at)}@example.com` }));
    const started = both.filter(({ eventName }) => eventName === 'call:started');
    const path = file('capture', captured(started));
    const { stdout, stderr } = await run(['infer', path]);
    expect(stdout).toContain("// not sure: calledEmail: 'qc'");
    expect(stdout).toContain("// not sure: calledEmail: 'other'");
    expect(stderr).toMatch(/Several fields match: .*calledEmail/);
    expect(stderr).toMatch(/Not found: .*endedAt/);
    const { records } = await run(['infer', path, '--json']);
    expect(records()).toMatchObject([{ type: 'inferred', read: { callEvents: 3 } }]);
  });

  test('reads the output of calls --json as one page, and asks for whole pages', async () => {
    const records = ['call-1', 'call-2'].map((_id) => JSON.stringify({ _id, direction: 'out' }));
    const { code, stderr } = await run(['infer', file('calls', `${records.join('\n')}\n`)]);
    expect(code).toBe(0);
    expect(stderr).toContain('Read 0 call events, 0 recording events and 1 pages; ignored 0.');
    expect(stderr).toMatch(/Not found: placedBy, .*\. Capture more deliveries\./);
    expect(stderr).toMatch(/Not found: callsField, .*\. Capture more pages: whole responses/);
  });

  test('ignores what listen refused', async () => {
    const forged = { method: 'POST', path: '/', outcome: 'signature-mismatch', problem: 'no' };
    const body = { ...events()[0], fake: 'fake@example.com' };
    const content = `${captured(events())}${JSON.stringify({ ...forged, body })}\n`;
    const { stdout } = await run(['infer', '-'], { stdin: content });
    expect(stdout).toContain("calledEmail: 'qc'");
    expect(stdout).not.toContain('fake');
  });

  test.each([
    ['{"eventName":"call:started"}\n{oops', 'Line 2 of'],
    ['{"hello":"world"}', 'listen --json'],
  ])('%j is exit code 2, with a fix', async (content, message) => {
    const { code, stdout, stderr } = await run(['infer', file('bad', content)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('fix:');
  });
});

test('listen --learn reports each name once, and prints the options at the end', async () => {
  const env = { CALL_WEBHOOK_SECRET: SECRET };
  const listener = start(['listen', '--port', '0', '--no-body', '--learn'], { env });
  await listener.until('Listening at');
  const [url = ''] = /http:\/\/\S+/.exec(listener.stderr()) ?? [];
  const send = (secret: string, body: object) =>
    run(['send', 'x', '--to', url, '--secret', secret, '--data', JSON.stringify(body)]);
  const forger = `whsec_${Buffer.alloc(24).toString('base64')}`;
  await send(forger, { ...events()[0], fake: 'fake@example.com' });
  for (const body of events()) await send(SECRET, body);
  await listener.until('endedAt: qg');
  listener.stop();
  expect(await listener.code).toBe(130);
  expect(listener.stderr().match(/learned {2}calledEmail: qc/g)).toHaveLength(1);
  for (const [setting, name] of Object.entries(NAMES))
    expect(listener.stdout()).toContain(`  ${setting}: '${name}', //`);
  expect(listener.stdout() + listener.stderr()).not.toContain('fake');
});
