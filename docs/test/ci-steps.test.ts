import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs steps as `.ci/run` does. */
function runSteps(...steps: string[]) {
  const script = ['. .ci/steps.sh', ...steps, 'finish'].join('\n');
  const { status, stdout } = spawnSync('bash', ['-c', script], { cwd: ROOT, encoding: 'utf8' });
  return { status, lastLine: stdout.trimEnd().split('\n').at(-1), stdout };
}

it('a step passes if its command does', () => {
  expect(runSteps('step one true', 'step two echo fine')).toMatchObject({
    status: 0,
    lastLine: '2 passed, 0 failed',
  });
});

it('a step fails with its command, and its output is shown again at the end', () => {
  const { status, lastLine, stdout } = runSteps(
    "step one bash -c 'echo why; exit 3'",
    'step two true',
  );
  expect([status, lastLine]).toEqual([1, '1 passed, 1 failed']);
  expect(stdout).toMatch(/== FAILED: one[^]*why/);
});

it.each([
  'A worker process has failed to exit gracefully and has been force exited.',
  'Jest did not exit one second after the test run has completed.',
])('a step fails if a test left something open (sign %#)', (line) => {
  const { status, lastLine, stdout } = runSteps(`step tests echo '${line}'`);
  expect([status, lastLine]).toEqual([1, '0 passed, 1 failed']);
  expect(stdout.split(line).length).toBeGreaterThan(2);
});

it('prints how long each step took, and each test file that failed with its step', () => {
  const { stdout, lastLine } = runSteps(
    'step one true',
    'step \'two & more\' bash -c \'echo "FAIL packages/a.test.ts (5 s)"; echo "FAIL docs/b.test.ts"; exit 1\'',
  );
  expect(stdout).toMatch(/\n +\d+ s {2}ok {6}one\n +\d+ s {2}FAILED {2}two & more\n/);
  const list = ['docs/b.test.ts', 'packages/a.test.ts'].map((path) => `  ${path}  (two & more)\n`);
  expect(stdout).toContain(`Test files that failed:\n${list.join('')}`);
  expect(lastLine).toBe('1 passed, 1 failed');
});

it('a check that proves nothing does not pass, and is not called a failure', () => {
  const { status, stdout } = runSteps("step history bash -c 'echo INCONCLUSIVE busy; exit 75'");
  expect(status).toBe(1);
  expect(stdout).toMatch(/== UNSURE, \d+ s/);
  expect(stdout.split('INCONCLUSIVE busy').length).toBeGreaterThan(2);
});
