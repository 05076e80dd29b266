// Runs `npx call-webhooks simulate --forward-to URL` as a user would: with the packed tarballs in a
// fresh folder, and with a receiver that uses none of our packages, each in its own process.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Yields the lines of a process's output, parsed as JSON. */
const records = (child) => {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => JSON.parse((await lines.next()).value);
};

/** @param {string} folder must not exist yet @param {string[]} tarballs the CLI and those of our packages that it needs */
export async function checkCli(folder, tarballs) {
  mkdirSync(folder);
  copyFileSync('scripts/consumer/receiver.mjs', join(folder, 'receiver.mjs'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  await run('npm', ['install', '--no-audit', '--no-fund', ...tarballs], { cwd: folder });

  const children = [];
  const start = (command, args, env = {}) => {
    const stdio = ['ignore', 'pipe', 'inherit'];
    // In its own process group, because npx does not forward signals.
    const options = { cwd: folder, stdio, detached: true, env: { ...process.env, ...env } };
    const child = spawn(command, args, options);
    children.push(child);
    return child;
  };
  try {
    const receiver = start(process.execPath, ['receiver.mjs']);
    const received = records(receiver);
    const { port } = await received();
    const hook = `http://127.0.0.1:${port}/hook`;
    const simulate = ['call-webhooks', 'simulate', '--forward-to', hook, '--port', '0', '--json'];
    const simulator = start('npx', ['--no', ...simulate]);
    const { url, secrets } = await records(simulator)();
    // Start the receiver with the secret that `simulate` printed.
    await fetch(`http://127.0.0.1:${port}/secret`, { method: 'POST', body: secrets[0] });

    const trigger = ['call-webhooks', 'trigger', 'call', '--wait', '--json', '--simulator', url];
    const { stdout } = await run('npx', ['--no', ...trigger], { cwd: folder });
    const delivered = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).delivery);
    const names = ['call:completed', 'call:recording-available', 'call:started'];
    assert.deepEqual(delivered.map(({ eventName }) => eventName).sort(), names);
    assert.ok(delivered.every(({ state }) => state === 'acknowledged'));
    const seen = [await received(), await received(), await received()];
    assert.deepEqual(seen.map(({ eventName }) => eventName).sort(), names);
    assert.ok(seen.every(({ verified }) => verified));

    const exit = once(simulator, 'exit');
    process.kill(-simulator.pid, 'SIGINT');
    await exit;
    return 'CLI: npx call-webhooks simulate delivers to a receiver written without these packages';
  } finally {
    for (const child of children) {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has already exited.
      }
    }
  }
}
