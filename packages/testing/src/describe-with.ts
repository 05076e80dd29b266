import { describe, test } from '@jest/globals';

/**
 * Tests that need a program of the machine. Where it is missing they are skipped with one loud line;
 * under `REQUIRE_SERVERS=1` (CI) they fail instead.
 * @param path where the program is (`findProgram`); `undefined`: it is missing
 * @param installedBy the Debian package that has it
 */
export function describeWith(
  { name, path, installedBy }: { name: string; path: string | undefined; installedBy: string },
  title: string,
  body: (path: string) => void,
): void {
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
