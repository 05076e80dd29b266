import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SECRETS } from '../src/graded/graded-receiver.ts';
import { runCheck, type CheckResult } from '../src/graded/run-check.ts';
import { ALL_MUTANTS } from '../src/mutants/all-mutants.ts';
import { SEEN_BY_CHECK } from '../src/mutants/graded-mutants.ts';
import { Sandbox } from '../src/mutants/sandbox.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = 'packages/verification/src/graded/receiver-program.ts';
const PROBES = [...new Set(Object.values(SEEN_BY_CHECK).map(({ probe }) => probe))];
let sandbox: Sandbox;

beforeAll(() => {
  sandbox = new Sandbox(ROOT);
});
afterAll(() => sandbox.close());

/** Serves the sources as they are now over HTTP, and grades them. */
async function graded(): Promise<CheckResult> {
  const child = sandbox.start(PROGRAM, { CALL_WEBHOOK_SECRET: SECRETS.join(' ') });
  const exited = once(child, 'exit');
  try {
    let output = '';
    child.stderr?.on('data', (data: Buffer) => (output += data.toString()));
    const [line] = (await Promise.race([once(child.stdout!, 'data'), exited])) as [Buffer];
    const port = /port (\d+)/.exec(String(line))?.[1];
    if (port === undefined) throw new Error(`The receiver did not start: ${output}`);
    const origin = `http://127.0.0.1:${port}`;
    const receiver = { url: `${origin}/hook`, effectsUrl: `${origin}/effects` };
    return await runCheck(receiver, ['--only', PROBES.join(',')]);
  } finally {
    child.kill();
    await exited;
  }
}

test('without a mutant, the probes pass', async () => {
  expect(await graded()).toMatchObject({ exitCode: 0, failed: [], noted: [], skipped: [] });
});

test.each(Object.entries(SEEN_BY_CHECK))('%s', async (name, { probe, as }) => {
  sandbox.apply(ALL_MUTANTS.find((mutant) => mutant.name === name)!.edits);
  try {
    const { failed, noted } = await graded();
    const seen = (as === 'fail' ? failed : noted).map((line) => line.split(':')[0]);
    expect(seen).toContain(probe);
  } finally {
    sandbox.restore();
  }
});
