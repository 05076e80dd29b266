import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { describeWithProgram, findProgram } from '@call-webhooks/contract-tests';
import { SECRETS, type GradedReceiver } from '../src/graded/graded-receiver.ts';
import { OUR_MOUNTS } from '../src/graded/our-mounts.ts';
import { PEERS } from '../src/graded/peers.ts';
import { GO, OTHER_LANGUAGES, startProgram } from '../src/graded/programs.ts';
import { runCheck, type CheckResult } from '../src/graded/run-check.ts';

const DOC = new URL('../../../docs/conformance.md', import.meta.url);

async function graded(
  start: () => Promise<GradedReceiver>,
  secrets?: readonly string[],
): Promise<CheckResult> {
  const receiver = await start();
  try {
    return await runCheck(receiver, [], secrets);
  } finally {
    await receiver.close();
  }
}

/** Each takes half a minute, because of the deadline, and hardly any time of the machine: all run at once. */
function gradedAtOnce(
  starts: Readonly<Record<string, () => Promise<GradedReceiver>>>,
  secrets?: readonly string[],
) {
  let all: ReadonlyMap<string, Promise<CheckResult>> | undefined;
  return (name: string): Promise<CheckResult> => {
    all ??= new Map(Object.entries(starts).map(([one, start]) => [one, graded(start, secrets)]));
    for (const result of all.values()) result.catch(() => undefined);
    return all.get(name)!;
  };
}

/** What runs in this process, or keeps its effects in memory, can't be restarted. */
const NOT_RESTARTED = ['restart', 'restart-replay', 'restart-duplicate', 'restart-running'];
const GOOD = {
  ...{ exitCode: 0, points: 100, failed: [] },
  skipped: NOT_RESTARTED.map((probe) => `${probe}: needs --restart`),
};

describe('our receiver gets 100 points', () => {
  const resultOf = gradedAtOnce(OUR_MOUNTS);
  test.each(Object.keys(OUR_MOUNTS))('in %s', async (name) => {
    expect(await resultOf(name)).toMatchObject({ ...GOOD, noted: [] });
  });
});

describe('a small receiver in another language gets 100 points', () => {
  const all = process.env['GRADE_GO'] === '1' ? [...OTHER_LANGUAGES, GO] : OTHER_LANGUAGES;
  const found = all.map((one) => ({ ...one, path: findProgram(one.program) }));
  const starts = found.flatMap(({ path, ...program }) =>
    path === undefined ? [] : [[program.name, () => startProgram(program, path)] as const],
  );
  const resultOf = gradedAtOnce(Object.fromEntries(starts));
  for (const { name, program, path, installedBy } of found)
    describeWithProgram({ name: program, path, installedBy }, name, () => {
      test('with all probes', async () => {
        expect(await resultOf(name)).toMatchObject(GOOD);
      });
    });
});

describe('libraries that only verify get the score that the docs show', () => {
  const resultOf = gradedAtOnce(PEERS, SECRETS.slice(0, 1));
  test.each(Object.keys(PEERS))('%s', async (name) => {
    const { points, failed } = await resultOf(name);
    const probes = failed.map((line) => `\`${line.split(':')[0]}\``).join(', ');
    const doc = readFileSync(DOC, 'utf8');
    const rows = doc.split('\n').map((line) => line.replace(/ +\|/g, ' |'));
    expect(rows).toContain(`| ${name} | ${points} | ${probes} |`);
  });
});
