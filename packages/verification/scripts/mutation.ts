import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jestConfig from '../../../jest.config.ts';
import { copyWorkspace } from '../src/mutants/copy-workspace.ts';
import { PARTS } from '../src/mutation/parts.ts';

// Changes the sources in thousands of small ways with Stryker, and lists the changes that no test
// notices. `npm run mutation -w @call-webhooks/verification -- [part …]`, all parts by default. What
// has not changed since the last run is not run again: the results are in `reports/mutation`.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const reports = join(root, 'reports/mutation');
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}

let failed = 0;
for (const [name, part] of Object.entries(PARTS))
  if (wanted.length === 0 || wanted.includes(name)) failed += mutate(name, part) ? 0 : 1;
process.exitCode = failed === 0 ? 0 : 1;

/** @returns whether the score was reached */
function mutate(
  name: string,
  { mutate, tests, packages, minScore }: (typeof PARTS)[string],
): boolean {
  console.log(`\n${name}: at least ${String(minScore)} % of all mutants have to be noticed`);
  const home = copyWorkspace(root, packages);
  try {
    const kept = join(reports, `${name}.json`);
    const incrementalFile = join(home, 'incremental.json');
    mkdirSync(reports, { recursive: true });
    if (existsSync(kept)) cpSync(kept, incrementalFile);
    writeFileSync(
      join(home, 'stryker.config.json'),
      JSON.stringify({
        mutate,
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
        timeoutMS: 30_000,
        dryRunTimeoutMinutes: 60,
        reporters: ['clear-text', 'progress-append-only', 'html'],
        htmlReporter: { fileName: join(reports, `${name}.html`) },
        clearTextReporter: { allowColor: process.stdout.isTTY, logTests: false },
        thresholds: { high: 95, low: minScore, break: minScore },
      }),
    );
    const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
    const { status } = spawnSync(process.execPath, [stryker, 'run'], {
      cwd: home,
      stdio: 'inherit',
    });
    if (existsSync(incrementalFile)) cpSync(incrementalFile, kept);
    return status === 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The tests of a part. The one that measures the bundle would measure Stryker's code as well. */
function jestConfigOf(home: string, tests: readonly string[]) {
  return {
    ...jestConfig,
    rootDir: home,
    testMatch: tests.map((glob) => join(home, glob)),
    testPathIgnorePatterns: [...(jestConfig.testPathIgnorePatterns ?? []), '/edge\\.test\\.ts$'],
  };
}
