import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { InferredNames } from '../src/commands/infer-names.ts';
import { createReceiver, type FieldNames } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import { receiver, SECRET } from './support/receiver.ts';
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

/** As PowerShell and Windows editors write a text. */
function withBom(text: string, encoding: 'utf8' | 'utf16le' | 'utf16be'): Buffer {
  if (encoding !== 'utf16be') return Buffer.from(`\uFEFF${text}`, encoding);
  return Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
}

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
    expect(stderr).toContain('Read 6 call events, 3 recording events and 0 call records;');
    expect(stdout + stderr).not.toMatch(/Ada|2025550|@example/);
  });

  test('lists every field that matches, and says which names were not found', async () => {
    const both = events((at) => ({ other: `second-${String(at)}@example.com` }));
    const started = both.filter(({ eventName }) => eventName === 'call:started');
    const path = file('capture', captured(started));
    const { stdout, stderr } = await run(['infer', path]);
    expect(stdout).toMatch(/^ {2}\/\/ calledEmail, not sure: 'qc' \(.+\) or 'other' \(.+\)$/m);
    expect(stderr).toMatch(/Several fields match: .*calledEmail/);
    expect(stderr).toMatch(/Not found: .*endedAt/);
    const { records } = await run(['infer', path, '--json']);
    expect(records()).toMatchObject([{ type: 'inferred', read: { callEvents: 3 } }]);
  });

  test('what is to be pasted is not wrapped', async () => {
    const path = join(folder, 'narrow');
    writeFileSync(path, captured(events()));
    const wide = await run(['infer', path]);
    const narrow = await run(['infer', path], { terminal: true, columns: 40 });
    expect(narrow.stdout).toBe(wide.stdout);
  });

  test.each(['utf16le', 'utf16be', 'utf8'] as const)(
    'reads %s with a BOM and CRLF, from a file and from stdin',
    async (encoding) => {
      const bytes = withBom(captured(events()).replaceAll('\n', '\r\n'), encoding);
      const path = join(folder, encoding);
      writeFileSync(path, bytes);
      for (const { code, stdout } of [
        await run(['infer', path]),
        await run(['infer', '-'], { stdin: bytes }),
      ]) {
        expect(code).toBe(0);
        for (const [setting, name] of Object.entries(NAMES))
          expect(stdout).toContain(`  ${setting}: '${name}', //`);
      }
    },
  );

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

test('listen --learn prints the options at the end', async () => {
  const env = { CALL_WEBHOOK_SECRET: SECRET };
  const listener = start(['listen', '--port', '0', '--no-body', '--learn'], { env });
  await listener.until('Listening at');
  const [url = ''] = /http:\/\/\S+/.exec(listener.stderr()) ?? [];
  const send = (secret: string, body: object) =>
    run(['send', 'x', '--to', url, '--secret', secret, '--data', JSON.stringify(body)]);
  const forger = `whsec_${Buffer.alloc(24).toString('base64')}`;
  await send(forger, { ...events()[0], fake: 'fake@example.com' });
  for (const body of events()) await send(SECRET, body);
  listener.stop();
  expect(await listener.code).toBe(130);
  for (const [setting, name] of Object.entries(NAMES))
    expect(listener.stdout()).toContain(`  ${setting}: '${name}', //`);
  expect(listener.stdout() + listener.stderr()).not.toContain('fake');
});

test('a receiver that lacks details is complete with what infer finds', async () => {
  const target = await receiver();
  const handle = () => undefined;
  const unknownFields = async (fieldNames: FieldNames) => {
    const on = { 'call:started': handle, 'call:completed': handle };
    const logger = { warn: handle, error: handle };
    const tested = createReceiver({ secret: SECRET, fieldNames, on, logger });
    for (const { body } of target.received.splice(0)) await tested.deliver(body);
    return (await tested.health()).unknownFields?.map(({ eventName }) => eventName);
  };
  const env = { CALL_WEBHOOK_SECRET: SECRET };
  const send = async (name: string, ...more: string[]) =>
    run(['send', name, '--to', target.url, ...more], { env });

  for (const name of ['call:started', 'call:completed']) await send(name);
  expect(await unknownFields({})).toBeUndefined();

  const sendOthers = async () => {
    for (const body of events()) await send('x', '--data', JSON.stringify(body));
  };
  await sendOthers();
  expect(await unknownFields({})).toEqual(['call:started', 'call:completed']);

  await sendOthers();
  const stdin = target.received.map(({ body }) => String(body)).join('\n');
  const { records } = await run(['infer', '-', '--json'], { stdin });
  const { fieldNames } = records()[0] as unknown as InferredNames;
  const found = fieldNames.map(({ setting, candidates }) => [setting, candidates[0]?.name]);
  expect(await unknownFields(Object.fromEntries(found) as FieldNames)).toBeUndefined();
  await target.close();
});

describe('infer reads what other commands print', () => {
  const printed = { calls: '', listened: '', shown: '' };
  beforeAll(async () => {
    const simulator = await startSimulator({ clock: 'manual', seed: 7, fieldNames: NAMES });
    const listener = start(['listen', '--port', '0', '--no-verify', '--json', '--learn']);
    await listener.until('"ready"');
    const [url = ''] = /http:[^"]+/.exec(listener.stdout()) ?? [];
    simulator.rules.forwardTo(url);
    for (let call = 0; call < 3; call++) simulator.calls.place({ durationSeconds: 20 });
    await simulator.clock.runUntilIdle();
    await listener.until(/(?:"call:completed",.*\n[^]*){3}/);
    listener.stop();
    await listener.code;
    const env = { CALL_WEBHOOKS_SIMULATOR: simulator.url };
    printed.calls = (await run(['calls', '--all', '--json'], { env })).stdout;
    printed.listened = listener.stdout();
    for (const { _id } of simulator.events.list())
      printed.shown += (await run(['events', 'show', _id, '--json'], { env })).stdout;
    await simulator.close();
  });

  test.each(['listened', 'shown', 'calls', 'both'] as const)('%s', async (what) => {
    const { calls, listened } = printed;
    const stdin = what === 'both' ? listened + calls : printed[what];
    const { code, stdout, stderr } = await run(['infer', '-'], { stdin });
    expect(code).toBe(0);
    for (const [setting, name] of Object.entries(NAMES))
      expect(stdout).toMatch(new RegExp(`^ {2}${setting}: '${name}', // \\w`, 'm'));
    expect(stderr).not.toContain('Not found');
    expect(stderr.includes('come from call records')).toBe(what === 'calls');
  });
});

test.each([
  ['line feeds', (lines: string[]) => lines.join('\n')],
  ['CR LF, and one at the end', (lines: string[]) => `${lines.join('\r\n')}\r\n`],
  ['empty lines', (lines: string[]) => `\n${lines.join('\n\n')}\n\n`],
  ['lines of spaces and tabs', (lines: string[]) => lines.join('\n  \t\n')],
  ['UTF-8 with a byte order mark', (lines: string[]) => `\uFEFF${lines.join('\n')}`],
])('a capture with %s is read whole', async (_what, joined) => {
  const lines = events().map((one) => JSON.stringify(one));
  const { code, stderr } = await run(['infer', file('lines.jsonl', joined(lines))]);
  expect(code).toBe(0);
  const count = events().filter(({ eventName }) => /started|completed/.test(String(eventName)));
  expect(stderr).toContain(`Read ${String(count.length)} call events`);
});
