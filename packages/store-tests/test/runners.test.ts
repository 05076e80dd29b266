import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a file of tests with node:test. */
async function run(file: string) {
  const args = ['--import', 'tsx', '--conditions=@call-webhooks/source', '--test-reporter=tap'];
  const child = spawn(process.execPath, [...args, '--test', file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

// In Jest, the stores of this repository show it, and own-packages has Vitest.
describe('the tests in node:test', () => {
  it('pass for the store and the dead letters in memory, and name the promise that a store breaks', async () => {
    const { code, output } = await run('packages/store-tests/test/runners/node-test.ts');
    const passed = (suite: string) => new RegExp(`^ *ok \\d+ - ${suite}: .* contract tests$`, 'm');
    expect(output).toMatch(passed('memoryStore'));
    expect(output).toMatch(passed('memoryDeadLetters'));
    expect(output).toMatch(/^ *not ok \d+ - a store that hides its log: store contract tests$/m);
    expect(output).toContain(
      'Broken promise: has each optional member of Store that `without` does not name, and no other',
    );
    expect(output).toMatch(/^# pass [1-9]\d\d?$/m);
    expect(code).toBe(1);
  });

  it('pass as the README shows', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const [, sample = ''] = /^```ts\n([^]*?)^```/m.exec(readme) ?? [];
    mkdirSync(new URL('.samples/', import.meta.url), { recursive: true });
    const file = fileURLToPath(new URL('.samples/readme.ts', import.meta.url));
    writeFileSync(file, sample);
    const { code, output } = await run(file);
    expect(output).toMatch(/^# pass [1-9]\d$/m);
    expect(code).toBe(0);
  });
});
