import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatorError, startSimulator } from '@call-webhooks/simulator';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
let folder: string;
let db: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  db = join(folder, 'state.db');
  const simulator = await open.simulator({ db });
  simulator.rules.forwardTo('http://127.0.0.1:9/hook');
  await simulator.close();
});
afterEach(() => rm(folder, { recursive: true }));

const refusal = async () => {
  const error: unknown = await startSimulator({ db }).then(
    (simulator) => simulator.close(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SimulatorError);
  expect(error).toMatchObject({ code: 'bad-snapshot' });
  const { message } = error as Error;
  expect(message).toContain(db);
  expect(message).toContain('Move the file away to start from scratch');
  expect(message).not.toContain('whsec_');
  return message;
};

test.each<[string, (text: string) => string, string]>([
  ['empty', () => '', 'is truncated'],
  ['of another program', () => 'SQLite format 3', 'is not JSON'],
  ['other JSON', () => '{"name":"x"}\n', 'was not written by a simulator'],
  [
    'newer',
    (text) => text.replace('"version":1', '"version":2'),
    'update @call-webhooks/simulator',
  ],
  ['without a seed', (text) => text.replace('"seed"', '"speed"'), 'invalid first line'],
  ['cut off between lines', (text) => text.replace(/\n[^\n]*\n$/, '\n'), 'is truncated'],
  ['cut off within a line', (text) => text.slice(0, text.length / 2), 'is not JSON'],
  ['without one of its lines', (text) => text.replace(/\n\["rule.*/, ''), 'is incomplete'],
  ['with a line of another kind', (text) => text.replace('["rule"', '["role"'), 'invalid line'],
  ['longer than it is', (text) => `${text}["end",0]\n`, 'after its last line'],
  ['with a rule that is none', (text) => text.replace('"actions"', '"action"'), 'Cannot restore'],
])('a file that is %s is refused, with the fix', async (_what, change, expected) => {
  await writeFile(db, change(await readFile(db, 'utf8')));
  expect(await refusal()).toContain(expected);
});

test('a folder in its place is refused, too', async () => {
  await rm(db);
  db = folder;
  expect(await refusal()).toContain('EISDIR');
});

test('one that another simulator uses is refused, and is free when that one is closed', async () => {
  const first = await startSimulator({ db });
  await expect(startSimulator({ db })).rejects.toMatchObject({
    code: 'db-in-use',
    message: expect.stringContaining('Stop it, or set db to another file.'),
  });
  await first.close();
  await (await startSimulator({ db })).close();
  expect(await readdir(folder)).toEqual(['state.db']);
});

test('rules that send to other machines are not taken up without allowExternal', async () => {
  await rm(db);
  const allowing = await startSimulator({ db, allowExternal: true });
  allowing.rules.create({
    trigger: 'call:started',
    actions: [{ url: 'https://receiver.example/hook' }],
  });
  await allowing.close();
  expect(await refusal()).toMatch(/set allowExternal .*--allow-external/);
});

test('a file that can not be written is told at the start, not at the end', async () => {
  await expect(startSimulator({ db: join(folder, 'none', 'state.db') })).rejects.toMatchObject({
    code: 'bad-snapshot',
    message: expect.stringContaining('state.db: ENOENT'),
  });
});
