import { expect, test } from '@jest/globals';
import { describeWithProgram, findProgram } from '@call-webhooks/contract-tests';
import {
  grade,
  ourReceiver,
  phpReceiver,
  pythonReceiver,
  type Grade,
} from '../src/graded/grade.ts';

// Which check notices which fault is in packages/cli/test/grader.integration.test.ts.

function expectAllPassed({ exitCode, failed, passed, stderr }: Grade): void {
  expect({ exitCode, failed, ...(exitCode !== 0 && { stderr }) }).toEqual({
    exitCode: 0,
    failed: [],
  });
  expect(passed).toBeGreaterThan(100);
}

test.each(['in a file', 'in memory'] as const)(
  'our receiver with a store %s passes all checks',
  async (store) => {
    expectAllPassed(await grade(ourReceiver(store)));
  },
);

describeWithProgram('python3', 'a small receiver in Python', () => {
  test('passes all checks', async () => {
    expectAllPassed(await grade(pythonReceiver));
  });
});

const php = { name: 'php', path: findProgram('php'), installedBy: 'php-cli php-sqlite3' };
describeWithProgram(php, 'a small receiver in PHP', () => {
  test('passes all checks', async () => {
    expectAllPassed(await grade(phpReceiver));
  });
});
