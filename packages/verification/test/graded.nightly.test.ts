import { expect, test } from '@jest/globals';
import { describeWithProgram, findProgram } from '@call-webhooks/contract-tests';
import { grade, ourReceiver, phpReceiver, pythonReceiver } from '../src/graded/grade.ts';

// What each fault of a receiver costs is in packages/cli/test/grader.integration.test.ts.

/** What keeps its effects in memory can't be restarted. */
const NOT_RESTARTED = ['restart', 'restart-replay', 'restart-duplicate', 'restart-running'];
const ALL_POINTS = { exitCode: 0, points: 100, failed: [] };

test('our receiver with a store in a file gets 100 points, with all probes', async () => {
  expect(await grade(ourReceiver('in a file'))).toMatchObject({ ...ALL_POINTS, skipped: [] });
});

test('with the memory store, it runs replays and duplicates of before a restart again', async () => {
  const { exitCode, failed } = await grade(ourReceiver('in memory'), ['--only', 'restart']);
  expect(exitCode).toBe(1);
  expect(failed).toEqual(['restart-replay', 'restart-duplicate']);
});

describeWithProgram('python3', 'a small receiver in Python', () => {
  test('gets 100 points', async () => {
    expect(await grade(pythonReceiver)).toMatchObject({ ...ALL_POINTS, skipped: NOT_RESTARTED });
  });
});

const php = { name: 'php', path: findProgram('php'), installedBy: 'php-cli php-sqlite3' };
describeWithProgram(php, 'a small receiver in PHP', () => {
  test('gets 100 points', async () => {
    expect(await grade(phpReceiver)).toMatchObject({ ...ALL_POINTS, skipped: NOT_RESTARTED });
  });
});
