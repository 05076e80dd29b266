import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit } from './mutant.ts';

const SCOPE = '@call-webhooks';
const PACKAGES = ['core', 'sqlite', 'contract-tests', 'verification'];
const ROOT_FILES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'tsconfig.test.json',
  'jest.config.ts',
];

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
    this.#home = mkdtempSync(join(tmpdir(), 'mutants-'));
    for (const file of ROOT_FILES) cpSync(join(root, file), join(this.#home, file));
    for (const folder of ['examples', 'docs']) mkdirSync(join(this.#home, folder));
    for (const name of PACKAGES)
      cpSync(join(root, 'packages', name), join(this.#home, 'packages', name), {
        recursive: true,
        filter: (path) => !/\/(dist|node_modules)$/.test(path),
      });
    this.#linkModules();
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

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** Links the installed dependencies, and our own packages from the copy. */
  #linkModules(): void {
    const [from, to] = [join(this.#root, 'node_modules'), join(this.#home, 'node_modules')];
    mkdirSync(join(to, SCOPE), { recursive: true });
    for (const name of readdirSync(from))
      if (name !== SCOPE) symlinkSync(join(from, name), join(to, name));
    for (const name of PACKAGES)
      symlinkSync(join(this.#home, 'packages', name), join(to, SCOPE, name));
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
