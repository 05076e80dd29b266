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

/** The source has changed: the text that an edit replaces is not there, or not once. */
export class StaleEdit extends Error {
  override readonly name = 'StaleEdit';
}

/** What a test file said. */
export interface Verdict {
  readonly passed: number;
  readonly failed: number;
  /** The first failure, or why nothing ran. */
  readonly said: string;
}

/** A copy of the sources that may be broken, and what it takes to run their tests. */
export class Workshop {
  readonly #root: string;
  readonly #home: string;
  readonly #originals = new Map<string, string>();

  /** @param root the repository's */
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

  /** @throws StaleEdit when a text is not there exactly once: the mutant has to follow the source */
  apply(edits: readonly Edit[]): void {
    for (const { file, from, to } of edits) {
      const path = join(this.#home, file);
      if (!existsSync(path)) throw new StaleEdit(`${file} is not there.`);
      const source = readFileSync(path, 'utf8');
      const times = source.split(from).length - 1;
      if (times !== 1)
        throw new StaleEdit(`${file} holds this ${String(times)} times, not once: ${from}`);
      if (!this.#originals.has(path)) this.#originals.set(path, source);
      writeFileSync(
        path,
        source.replace(from, () => to),
      );
    }
  }

  /** Undoes what was applied. */
  restore(): void {
    for (const [path, source] of this.#originals) writeFileSync(path, source);
    this.#originals.clear();
  }

  run(testFiles: readonly string[]): Verdict {
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
      { cwd: this.#home, encoding: 'utf8', timeout: 300_000 },
    );
    try {
      return verdictOf(readFileSync(report, 'utf8'));
    } catch {
      return { passed: 0, failed: 0, said: stderr.slice(-2_000) };
    }
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** The dependencies as they are; our own packages from the copy. */
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

function verdictOf(json: string): Verdict {
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(json) as Report;
  const said = testResults.map(({ message }) => message).join('\n');
  return { passed: numPassedTests, failed: numFailedTests, said };
}
