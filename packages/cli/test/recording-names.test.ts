import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

// Where a recording is saved if no file is named: in this folder, whatever its id is.

const before = process.cwd();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-recording-'));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

/** Downloads a recording of this type, and returns the files that there are then. */
async function download(callId: string, type: string | undefined, ...flags: string[]) {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const server = await receiver(() => ({ status: 200, body: 'sound', headers }));
  const service = ['--base-url', new URL(server.url).origin, '--api-token', 't'];
  const { code, stdout, stderr } = await run(['recording', callId, ...service, ...flags]);
  await server.close();
  const paths = server.received.map(({ url }) => url);
  return { code, stdout, stderr, paths, files: readdirSync('.') };
}

test.each([
  ['audio/wav', 'c1.wav'],
  ['audio/x-wav', 'c1.wav'],
  ['audio/wave', 'c1.wav'],
  ['audio/mpeg', 'c1.mp3'],
  ['audio/mp4', 'c1.m4a'],
  ['audio/ogg', 'c1.ogg'],
  ['audio/webm', 'c1.webm'],
  ['Audio/MPEG; codecs="mp3"', 'c1.mp3'],
  [' audio/ogg ;q=1', 'c1.ogg'],
  ['audio/other', 'c1.audio'],
  ['application/octet-stream', 'c1.audio'],
  ['toString', 'c1.audio'],
  [undefined, 'c1.audio'],
])('%s is saved as %s', async (type, name) => {
  expect(await download('c1', type)).toEqual({
    ...{ code: 0, stdout: `${name}  5 B\n`, stderr: '', files: [name] },
    paths: ['/v1/calls/c1/recording'],
  });
  expect(readFileSync(name, 'utf8')).toBe('sound');
});

test.each([
  ['../../etc/passwd', '______etc_passwd.mp3', '..%2F..%2Fetc%2Fpasswd'],
  ['.hidden', '_hidden.mp3', '.hidden'],
  ['a b:c?', 'a_b_c_.mp3', 'a%20b%3Ac%3F'],
  ['ü-1', '_-1.mp3', '%C3%BC-1'],
  ['x'.repeat(300), `${'x'.repeat(100)}.mp3`, 'x'.repeat(300)],
])('the recording of %s is saved as %s', async (id, name, segment) => {
  const { files, paths } = await download(id, 'audio/mpeg');
  expect([files, paths]).toEqual([[name], [`/v1/calls/${segment}/recording`]]);
});

test('a file that is there is replaced with --force alone', async () => {
  writeFileSync('c1.mp3', 'old');
  expect(await download('c1', 'audio/mpeg')).toMatchObject({
    ...{ code: 3, stdout: '', files: ['c1.mp3'] },
    stderr: 'error: c1.mp3 already exists.\nfix:   Pass --force to replace it.\n',
  });
  expect(readFileSync('c1.mp3', 'utf8')).toBe('old');
  // Where its name is known, nothing is asked for.
  expect((await download('c1', 'audio/mpeg', '-o', 'c1.mp3')).paths).toEqual([]);
  for (const flags of [[], ['-o', 'c1.mp3']]) {
    writeFileSync('c1.mp3', 'old');
    expect((await download('c1', 'audio/mpeg', '--force', ...flags)).code).toBe(0);
    expect(readFileSync('c1.mp3', 'utf8')).toBe('sound');
  }
});

test('as a record, and to standard output', async () => {
  const { stdout } = await download('c1', 'audio/wav', '--json');
  expect(JSON.parse(stdout)).toEqual({ path: 'c1.wav', bytes: 5 });
  const piped = await download('c2', 'audio/wav', '-o', '-');
  expect(piped).toMatchObject({ code: 0, stdout: 'sound', stderr: '', files: ['c1.wav'] });
});
