import { describe, test } from '@jest/globals';
import { findProgram } from './find-program.ts';

/** A program of the machine that tests drive. */
export interface Program {
  name: string;
  /** Where it is; `undefined`: it is missing. */
  path: string | undefined;
  /** The Debian package that has it. */
  installedBy: string;
}

/** A program of the PATH, in a Debian package of the same name. */
const onPath = (name: string): Program => ({ name, path: findProgram(name), installedBy: name });

/**
 * Tests that need a program of the machine. Where it is missing they are skipped with one loud line;
 * under `REQUIRE_SERVERS=1` (CI) they fail instead.
 */
export function describeWithProgram(
  program: Program | string,
  title: string,
  body: (path: string) => void,
): void {
  const { name, path, installedBy } = typeof program === 'string' ? onPath(program) : program;
  if (path !== undefined) {
    describe(title, () => {
      body(path);
    });
    return;
  }
  const missing = `${name} is not installed (apt-get install ${installedBy})`;
  if (process.env['REQUIRE_SERVERS'] === '1') {
    describe(title, () => {
      test(`needs ${name}`, () => {
        throw new Error(`${missing}, and REQUIRE_SERVERS is set.`);
      });
    });
    return;
  }
  process.stderr.write(`\n!!! SKIPPED: "${title}": ${missing}.\n\n`);
  describe.skip(title, () => {
    test(`needs ${name}`, () => undefined);
  });
}
