// Does what a user does first: installs `@call-webhooks/express` in an app, and sends it a call with
// `npx call-webhooks`, each in its own process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { run } from './registry.mjs';

const COMMAND = 'node_modules/call-webhooks';
const EVENTS = ['call:completed', 'call:recording-available', 'call:started'];
// As at the service: one for each action, and the recording webhook's.
const SECRETS = {
  CALL_WEBHOOK_SECRET:
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw,whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  RECORDING_WEBHOOK_SECRET: 'whsec_plJ3nmyCDGBKInavdOK15jsl0Z0jDqxu',
};

const bytesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

/**
 * @param {string} folder must not exist yet
 * @param {string} npmrc where npm finds our packages
 * @param {string} command where npm finds the package of the command, whose name has no scope
 * @returns a summary
 * @throws if an event does not arrive
 */
export async function checkApp(folder, npmrc, command) {
  cpSync(fileURLToPath(new URL('app', import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, '.npmrc'), npmrc);
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const install = async (...names) => {
    await run('npm', ['install', '--no-audit', '--no-fund', ...names], { cwd: folder });
    return bytesIn(join(folder, 'node_modules'));
  };
  const before = await install('express@5');
  const added = (await install('@call-webhooks/express')) - before;
  await install(command);

  const children = [];
  /** Starts a process, and returns the first line that it prints. */
  const start = async (command, ...args) => {
    const env = { ...process.env, ...SECRETS };
    // In its own process group, because npx does not forward signals.
    const options = { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], detached: true, env };
    const child = spawn(command, args, options);
    children.push(child);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return JSON.parse(line);
  };
  try {
    const { port } = await start(process.execPath, 'server.mjs');
    const app = `http://127.0.0.1:${port}`;
    const simulate = ['simulate', '--forward-to', `${app}/hook`, '--port', '0'];
    const { url } = await start('npx', '--no', 'call-webhooks', ...simulate, '--json');
    const trigger = ['trigger', 'call', '--wait', '--json', '--simulator', url];
    const { stdout } = await run('npx', ['--no', 'call-webhooks', ...trigger], { cwd: folder });
    const delivered = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event);
    assert.deepEqual(delivered.map(({ eventName }) => eventName).sort(), EVENTS);
    assert.ok(delivered.every(({ state }) => state === 'acknowledged'));
    assert.deepEqual((await (await fetch(`${app}/seen`)).json()).sort(), EVENTS);
    // As an assistant starts it: by its path, from a folder that belongs to no project.
    const { version } = JSON.parse(readFileSync(join(folder, COMMAND, 'package.json'), 'utf8'));
    const shown = await run(join(folder, 'node_modules/.bin/call-webhooks'), ['--version'], {
      cwd: tmpdir(),
    });
    assert.equal(shown.stdout.trim(), version);
  } finally {
    for (const { pid } of children)
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has already exited.
      }
  }
  return `@call-webhooks/express adds ${(added / 1e6).toFixed(2)} MB to an Express app, and handles the three events of a call that npx call-webhooks simulates`;
}
