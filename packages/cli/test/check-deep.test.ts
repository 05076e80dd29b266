import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { PROBES } from '../src/grader/probes.ts';
import { faultyReceiver, type FaultyReceiver } from './support/faulty-receiver.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const env = { CALL_WEBHOOK_SECRET: SECRET };
const folder = mkdtempSync(join(tmpdir(), 'check-deep-'));
const started: FaultyReceiver[] = [];

afterEach(() => Promise.all(started.splice(0).map((one) => one.close())));
afterAll(() => rmSync(folder, { recursive: true }));

async function receiver(...faults: string[]) {
  const one = await faultyReceiver([SECRET], faults);
  started.push(one);
  return one;
}
/** Quick probes. */
const ONLY = ['--only', 'signature,forged-first', '--only', 'call-started'];

describe('check --deep', () => {
  test('prints what failed, why, how to fix it, and a score, in 80 columns', async () => {
    const { url } = await receiver('forged', 'appended-byte');
    const argv = ['check', '--deep', '--to', url, ...ONLY];
    const { code, stdout, stderr } = await run(argv, { env, terminal: true, columns: 80 });
    expect(code).toBe(1);
    // Colors, as it is a terminal, and a progress bar.
    expect(stdout).toContain('\u001b[');
    expect(stderr).toContain('of 2');
    const plain = stripVTControlCharacters(stdout);
    expect(plain).toMatch(/FAILED {3}forged\n.*unknown secret: 200\.\n.*Spec, Authentication/);
    expect(plain).toContain('Fix: Compute the signature yourself');
    expect(plain).toMatch(/^Score +\d{1,2} {2}\d+ passed, \d+ failed, /m);
    expect(plain.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('in a pipe there are no colors and no progress', async () => {
    const { url } = await receiver();
    const { code, stdout, stderr } = await run(['check', '--deep', '--to', url, ...ONLY], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/^Score +100 /m);
  });

  test('--json, --junit and --sarif have the same results', async () => {
    const { url } = await receiver('forged', 'call-started');
    const [junit, sarif] = [join(folder, 'junit.xml'), join(folder, 'check.sarif')];
    const files = ['--junit', junit, '--sarif', sarif, '--run-handlers', '--json'];
    const { code, records } = await run(['check', '--deep', '--to', url, ...ONLY, ...files], {
      env,
    });
    expect(code).toBe(1);
    const failed = records()
      .filter(({ result }) => result === 'fail')
      .map(({ probe }) => probe);
    expect(failed).toContain('forged');
    expect(failed).toContain('call-started');
    const score = records().at(-1);
    expect(score).toMatchObject({ type: 'score', failed: failed.length, skipped: 0 });

    const xml = readFileSync(junit, 'utf8');
    expect(xml.match(/<failure /g)).toHaveLength(failed.length);
    expect(xml).toContain('classname="signature.forged"');
    expect(xml).toContain(`failures="${String(failed.length)}"`);

    const log = JSON.parse(readFileSync(sarif, 'utf8')) as SarifLog;
    expect(log.version).toBe('2.1.0');
    const { results, tool } = log.runs[0]!;
    const errors = results.filter(({ level }) => level !== 'note');
    expect(errors.map(({ ruleId }) => ruleId).sort()).toEqual(failed.sort());
    for (const { ruleId, ruleIndex } of results)
      expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  });

  test('--min-score decides on the exit code', async () => {
    const { url } = await receiver('forged');
    const argv = ['check', '--deep', '--to', url, ...ONLY];
    expect((await run([...argv, '--min-score', '10'], { env })).code).toBe(0);
    expect((await run([...argv, '--min-score', '99'], { env })).code).toBe(1);
  });

  test('without a secret, it says what is missing', async () => {
    const { url } = await receiver();
    const { code, stdout, stderr } = await run(['check', '--deep', '--to', url]);
    expect(code).toBe(0);
    expect(stdout).toContain('needs the signing secret');
    expect(stderr).toContain('CALL_WEBHOOK_SECRET');
  });

  test('what has not run in time is skipped, and exits with 1', async () => {
    const { url } = await receiver();
    const argv = ['check', '--deep', '--to', url, '--max-time', '0ms'];
    const { code, stderr } = await run(argv, { env });
    expect(code).toBe(1);
    expect(stderr).toContain('--max-time');
  });

  test('bad input, and nothing there', async () => {
    const { url } = await receiver();
    const check = (...argv: string[]) => run(['check', ...argv], { env });
    expect((await check('--deep')).stderr).toContain('--to');
    expect((await check('--deep', '--to', url, '--only', 'forgd')).stderr).toContain('forged?');
    expect((await check('--to', url, '--only', 'forged')).stderr).toContain('--deep');
    expect((await check('--deep', '--to', '1/hook')).code).toBe(3);
    const wrong = await check('--deep', '--to', url, '--effects', url, '--only', 'duplicate');
    expect(wrong).toMatchObject({ code: 3 });
    expect(wrong.stderr).toContain('docs/conformance.md');
  });

  test('--list shows every probe', async () => {
    const { stdout } = await run(['check', '--list'], { columns: 80 });
    for (const { id } of PROBES) expect(stdout).toContain(`  ${id} `);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
});

test('ids are unique, and every probe has a reason and a fix', () => {
  expect(new Set(PROBES.map(({ id }) => id)).size).toBe(PROBES.length);
  for (const { id, spec, fix, weight } of PROBES) {
    expect(id).toMatch(/^[a-z0-9-]+$/);
    expect(fix).toMatch(/\.$/);
    // What the interface doesn't show costs no points.
    expect(weight === 0).toBe(spec.section === 'Not shown');
  }
});

interface SarifLog {
  version: string;
  runs: {
    tool: { driver: { rules: { id: string }[] } };
    results: { ruleId: string; ruleIndex: number; level: string }[];
  }[];
}
