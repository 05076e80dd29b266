import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyWorkspace } from './copy-workspace.ts';
import type { Edit } from './mutant.ts';

const PACKAGES = ['core', 'sqlite', 'contract-tests', 'verification'];

/** The text that an edit replaces is missing or occurs more than once: the source has changed. */
export class StaleEdit extends Error {
  override readonly name = 'StaleEdit';
}

/** The result of running test files. */
export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  /** The failures, or why nothing ran. */
  readonly output: string;
}

/** More scenarios than `npm test` runs, so that each mutant of the models meets its own. */
const RUNS = { MODEL_RUNS: '100', QUEUE_MODEL_RUNS: '50' };

/** A copy of the sources that can be changed, and in which tests can run. */
export class Sandbox {
  readonly #root: string;
  readonly #home: string;
  readonly #originals = new Map<string, string>();

  /** @param root the repository's root */
  constructor(root: string) {
    this.#root = root;
    this.#home = copyWorkspace(root, PACKAGES);
  }

  /** @throws StaleEdit when a text does not occur exactly once: the mutant has to follow the source */
  apply(edits: readonly Edit[]): void {
    for (const { file, from, to } of edits) {
      const path = join(this.#home, file);
      if (!existsSync(path)) throw new StaleEdit(`${file} does not exist.`);
      const source = readFileSync(path, 'utf8');
      const times = source.split(from).length - 1;
      if (times !== 1)
        throw new StaleEdit(
          `${file} contains this ${String(times)} times instead of once: ${from}`,
        );
      if (!this.#originals.has(path)) this.#originals.set(path, source);
      writeFileSync(
        path,
        source.replace(from, () => to),
      );
    }
  }

  /** Undoes all edits. */
  restore(): void {
    for (const [path, source] of this.#originals) writeFileSync(path, source);
    this.#originals.clear();
  }

  run(testFiles: readonly string[]): TestRun {
    const report = join(this.#home, 'report.json');
    rmSync(report, { force: true });
    const jest = join(this.#root, 'node_modules/jest/bin/jest.js');
    const { stderr } = spawnSync(
      process.execPath,
      [
        '--experimental-vm-modules',
        '--no-warnings',
        jest,
        '--rootDir',
        this.#home,
        '--json',
        '--outputFile',
        report,
        '--runTestsByPath',
        ...testFiles.map((file) => join(this.#home, file)),
      ],
      { cwd: this.#home, encoding: 'utf8', timeout: 300_000, env: { ...process.env, ...RUNS } },
    );
    try {
      return testRunOf(readFileSync(report, 'utf8'));
    } catch {
      return { passed: 0, failed: 0, output: stderr.slice(-2_000) };
    }
  }

  /** Starts a program of the copy, with its sources as they are now. @param file relative to the root */
  start(file: string, env: NodeJS.ProcessEnv): ChildProcess {
    const args = ['--import', 'tsx', '--conditions=@call-webhooks/source', join(this.#home, file)];
    // Without the options of the test runner.
    const ownEnv = { ...process.env, NODE_OPTIONS: '', ...env };
    return spawn(process.execPath, args, { cwd: this.#home, env: ownEnv });
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { message: string }[];
}

function testRunOf(json: string): TestRun {
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(json) as Report;
  const output = testResults.map(({ message }) => message).join('\n');
  return { passed: numPassedTests, failed: numFailedTests, output };
}
