import type { TestRunner } from '../src/index.ts';

type Run = () => Promise<void>;

/**
 * A test runner that only runs, to see what a suite says of a subject.
 * @param only the names of the tests that are run; all by default
 * @returns the errors of the tests that failed, by the names of the tests
 */
export async function failuresOf(
  register: (runner: TestRunner) => void,
  only?: readonly string[],
): Promise<{ failures: Map<string, Error>; ran: number }> {
  const hooks = { before: [] as Run[], after: [] as Run[], afterEach: [] as Run[] };
  const tests: [string, Run][] = [];
  register({
    describe: (_name, define) => {
      define();
    },
    test: (name, run) => tests.push([name, run]),
    beforeAll: (run) => hooks.before.push(run),
    afterAll: (run) => hooks.after.push(run),
    afterEach: (run) => hooks.afterEach.push(run),
  });
  const wanted = tests.filter(([name]) => !only || only.includes(name));
  const failures = new Map<string, Error>();
  for (const hook of hooks.before) await hook();
  for (const [name, run] of wanted) {
    await run().catch((error: unknown) => failures.set(name, error as Error));
    for (const hook of hooks.afterEach) await hook();
  }
  for (const hook of hooks.after) await hook();
  return { failures, ran: wanted.length };
}
