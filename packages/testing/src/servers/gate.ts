import { spawnSync } from 'node:child_process';
import { describe, it } from '@jest/globals';

/**
 * `describe` for tests that need a program of the machine. Where it is missing they are skipped, with
 * one loud line; with `REQUIRE_SERVERS=1`, as in CI, they fail.
 */
export function describeWith(program: string, name: string, tests: () => void): void {
  if (spawnSync(program, ['--version']).error === undefined) {
    describe(name, tests);
    return;
  }
  const missing = `${program} is not installed: "${name}" can not run.`;
  if (process.env['REQUIRE_SERVERS'] === '1') {
    describe(name, () => {
      it(`needs ${program}`, () => {
        throw new Error(missing);
      });
    });
    return;
  }
  process.stderr.write(`\n*** SKIPPED: ${missing} ***\n\n`);
  describe.skip(name, tests);
}
