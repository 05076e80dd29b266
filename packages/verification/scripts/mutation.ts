import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import jestConfig from '../../../jest.config.ts';
import { atMost, changedLines } from '../src/mutation/changed-lines.ts';
import { PARTS, piecesOf, type MutationPart } from '../src/mutation/parts.ts';
import { copyWorkspace } from '../src/mutants/copy-workspace.ts';
import { scoreIn, survivorsIn } from '../src/mutation/survivors.ts';

// Changes the sources in thousands of small ways with Stryker, and lists the changes that no test
// notices. `npm run mutation -w @call-webhooks/verification -- [part …] [--since <commit>]`, all parts
// by default. What has not changed since the last run is not run again: the results are in
// `reports/mutation`, where a run that is stopped leaves them for each piece that has ended. A part fails
// below its score, and for a survivor that `src/mutation/equivalent.ts` does not list.
//
// With `--since`, only lines that differ from the commit are changed, 200 at most, and there is no score.

const MAX_CHANGED_LINES = 200;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const reports = join(root, 'reports/mutation');
const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { since: { type: 'string' } },
});
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}

const jestFile = (name: string) =>
  fileURLToPath(new URL(`../src/mutation/jest/${name}`, import.meta.url));

const selected = Object.entries(PARTS).filter(
  ([name]) => wanted.length === 0 || wanted.includes(name),
);
const passed =
  values.since === undefined
    ? selected.map(([name, part]) => mutatePart(name, part))
    : mutateChanges(values.since);
process.exitCode = passed.every(Boolean) ? 0 : 1;

/** @returns whether the score was reached, and each survivor is listed */
function mutatePart(name: string, part: MutationPart): boolean {
  const report = join(reports, name);
  const pieces = piecesOf(part, root);
  for (const [index, files] of pieces.entries()) {
    console.log(`\n${name}, piece ${String(index + 1)} of ${String(pieces.length)}`);
    if (!mutate(part, files, report)) return false;
  }
  const score = scoreIn(`${report}.json`);
  console.log(
    `\n${name}: ${score.toFixed(1)} % of the changes were noticed. The bar is ${String(part.minScore)} %.`,
  );
  return allListed(`${report}.json`) && score >= part.minScore;
}

/** @returns for each part with changes, whether each survivor is listed */
function mutateChanges(since: string): boolean[] {
  const inPart = (file: string, { sources }: MutationPart) =>
    sources.some((folder) => file.startsWith(`${folder}/`));
  const changed = changedLines(root, since).filter(({ file }) =>
    selected.some(([, part]) => inPart(file, part)),
  );
  const taken = atMost(MAX_CHANGED_LINES, changed);
  const files = (lines: typeof changed) => new Set(lines.map(({ file }) => file)).size;
  console.log(
    `Changed since ${since}: ${String(files(changed))} files, of which ${String(files(taken))} are mutated.`,
  );
  return selected.flatMap(([name, part]) => {
    const own = taken.filter(({ file }) => inPart(file, part));
    if (own.length === 0) return [];
    console.log(`\n${name}`);
    const ranges = own.map(({ file, first, last }) => `${file}:${String(first)}-${String(last)}`);
    const report = join(reports, `${name}-changes`);
    rmSync(`${report}.json`, { force: true }); // of other changes
    return [mutate(part, ranges, report) && allListed(`${report}.json`)];
  });
}

/**
 * Adds the results to the report.
 * @param files sources, or ranges of their lines
 * @param report the path of the report, without its extension
 * @returns whether Stryker ran to its end
 */
function mutate(
  { tests, packages }: MutationPart,
  files: readonly string[],
  report: string,
): boolean {
  const home = copyWorkspace(root, packages);
  const results = `${report}.json`;
  try {
    const incrementalFile = join(home, 'incremental.json');
    mkdirSync(reports, { recursive: true });
    if (existsSync(results)) cpSync(results, incrementalFile);
    writeFileSync(
      join(home, 'stryker.config.json'),
      JSON.stringify({
        mutate: files,
        inPlace: true, // in the copy
        incremental: true,
        incrementalFile,
        testRunner: 'jest',
        plugins: ['@stryker-mutator/jest-runner'],
        testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
        jest: { config: jestConfigOf(home, tests) },
        coverageAnalysis: 'perTest',
        ignoreStatic: true,
        concurrency: 2,
        timeoutMS: 12_000,
        dryRunTimeoutMinutes: 60,
        reporters: ['clear-text', 'progress-append-only', 'html'],
        htmlReporter: { fileName: `${report}.html` },
        clearTextReporter: { allowColor: process.stdout.isTTY, logTests: false },
        thresholds: { high: 95, low: 85, break: null },
      }),
    );
    const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
    const { status } = spawnSync(process.execPath, [stryker, 'run'], {
      cwd: home,
      stdio: 'inherit',
    });
    if (status !== 0) return false;
    cpSync(incrementalFile, results);
    return true;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** @returns whether it is known of every survivor why it does no harm */
function allListed(report: string): boolean {
  const survivors = survivorsIn(report);
  const unlisted = survivors.filter(({ reason }) => reason === undefined);
  const [all, open] = [String(survivors.length), String(unlisted.length)];
  console.log(`\n${all} survivors, ${open} of them without a reason in src/mutation/equivalent.ts`);
  for (const { file, line, change } of unlisted) console.log(`${file}:${String(line)}: ${change}`);
  return unlisted.length === 0;
}

/** The tests of a part. The one that measures the bundle would measure Stryker's code as well. */
function jestConfigOf(home: string, tests: readonly string[]) {
  return {
    ...jestConfig,
    rootDir: home,
    testMatch: tests.map((glob) => join(home, glob)),
    testTimeout: 5_000, // a test that a mutant hangs fails early
    testEnvironment: jestFile('environment.cjs'),
    testSequencer: jestFile('sequencer.cjs'),
    runner: jestFile('runner.cjs'),
    testPathIgnorePatterns: ['/node_modules/', '/templates/', '/edge\\.test\\.ts$'],
  };
}
