import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { secretsFrom } from '../../src/rotate-into.ts';
import { testClient } from '../support/client.ts';
import { fileStore, type Step } from '../support/file-store.ts';
import { sendJson } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

const program = fileURLToPath(new URL('../support/rotating-process.ts', import.meta.url));
const secretNumber = (number: number): string =>
  `whsec_${Buffer.from(`secret ${number}`).toString('base64')}`;
const neighbour = secretNumber(99);
const wire = { secretField: 'actions.1.signingSecrets.current' };

let folder: string;
let file: string;
let rotations: number;
const server = useServer();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rotate-'));
  file = join(folder, 'secrets.json');
  await writeFile(file, JSON.stringify([{ id: 'first', secret: secretNumber(0), actionId: 'a' }]));
  rotations = 0;
  // The service names the secret from before as well, which the store may never have seen.
  server.answer = (_, response) => {
    rotations++;
    const own = { previous: secretNumber(rotations - 1), current: secretNumber(rotations) };
    const actions = [
      { _id: 'other', secret: neighbour },
      { _id: 'a', signingSecrets: own },
    ];
    sendJson(response, { _id: 'r', actions });
  };
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs a rotation in a process of its own, and kills the process at one step. */
async function killAt(step: Step): Promise<void> {
  const answer = server.answer;
  const child = fork(program, [server.origin, file, step], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  const reached =
    step === 'answered'
      ? new Promise<void>((resolve) => {
          // The service has rotated, and its response is on the way.
          server.answer = (_, response) => {
            rotations++;
            response
              .writeHead(200, { 'content-type': 'application/json' })
              .write('{', () => resolve());
          };
        })
      : once(child, 'message');
  await reached;
  child.kill('SIGKILL');
  await once(child, 'exit');
  server.answer = answer;
}

test.each<Step>([
  'load',
  'first save starts',
  'first save half written',
  'first save written',
  'first save done',
  'request',
  'answered',
  'second save starts',
  'second save half written',
  'second save written',
  'second save done',
  'done',
])(
  'a process that is killed at "%s": the next run ends with the secret that signs',
  async (step) => {
    await killAt(step);
    const before = (await secretsFrom(fileStore(file))()).map(({ secret }) => secret);
    expect(before).toContain(secretNumber(0));
    const store = fileStore(file);
    const { current } = await testClient(server.origin, { wire }).rules.rotateInto(store, {
      ruleId: 'r',
      actionId: 'a',
    });
    const signing = secretNumber(rotations);
    expect(current.secret).toBe(signing);
    const saved = await store.load();
    expect(saved[0]).toEqual(current);
    expect(saved.filter(({ expiresAt }) => expiresAt === undefined)).toEqual([current]);
    expect(saved.map(({ secret }) => secret)).toContain(secretNumber(0));
    expect(saved.map(({ secret }) => secret)).not.toContain(neighbour);
  },
  120_000,
);
