/**
 * What these tests need of a test runner. Pass the whole module: `import * as runner from 'node:test'`,
 * or from `'vitest'`, `'@jest/globals'` or `'bun:test'`.
 */
export type TestRunner = RunnerFunctions &
  (
    | { beforeAll: TestHook; afterAll: TestHook }
    /** As `node:test` calls them. */
    | { before: TestHook; after: TestHook }
  );

/** The functions that every test runner names alike. */
export interface RunnerFunctions {
  describe(name: string, define: () => void): unknown;
  test(name: string, run: () => Promise<void>): unknown;
  afterEach: TestHook;
}

/** Registers a function that a test runner calls before or after tests. */
export type TestHook = (run: () => Promise<void>) => unknown;

/** The test runner, as these tests use it. */
export interface Tests {
  describe(name: string, define: () => void): void;
  /** A test of one promise. The error of a test that fails starts with the promise. */
  it(promise: string, check: () => Promise<void>): void;
  beforeAll: TestHook;
  afterAll: TestHook;
  afterEach: TestHook;
}

export function testsOf(runner: TestRunner): Tests {
  const [beforeAll, afterAll] =
    'beforeAll' in runner ? [runner.beforeAll, runner.afterAll] : [runner.before, runner.after];
  return {
    describe: (name, define) => void runner.describe(name, define),
    it: (promise, check) =>
      void runner.test(promise, async () => {
        try {
          await check();
        } catch (error) {
          throw broken(promise, error);
        }
      }),
    beforeAll,
    afterAll,
    afterEach: runner.afterEach,
  };
}

/** The error of a test, which says first what promise is broken, wherever only the error is shown. */
function broken(promise: string, cause: unknown): Error {
  const found = cause instanceof Error ? cause.message : String(cause);
  const error = new Error(`Broken promise: ${promise}\n\n${found}`, { cause });
  const frames = cause instanceof Error ? /\n\s+at [^]*/.exec(cause.stack ?? '') : null;
  if (frames) error.stack = `${error.name}: ${error.message}${frames[0]}`;
  return error;
}
