import { describe, expect, test } from '@jest/globals';
import { ROW_GROUPS } from '../src/matrix/rows.ts';
import { methodsAndPaths } from '../src/matrix/rows/methods-and-paths.ts';
import {
  expressWithCatchAll,
  fastifyWithCatchAll,
  nodeTarget,
} from '../src/matrix/targets/in-process.ts';
import type { TargetFactory } from '../src/matrix/target.ts';
import type { Row } from '../src/matrix/row.ts';
import { tryRow } from '../src/matrix/try-row.ts';

// `npm run hostile` tries all adapters, including Next.js, and the row with 10,000 connections. It also
// checks the table in the docs.

async function tried(row: Row, kind: TargetFactory) {
  const target = await kind.start(row);
  try {
    return await tryRow(row, target);
  } finally {
    await target.close();
  }
}

describe.each(ROW_GROUPS)('$title, at node:http', ({ rows }) => {
  test.each(rows.filter(({ idleConnections = 0 }) => idleConnections === 0))(
    '$name',
    async (row) => {
      expect((await tried(row, nodeTarget)).violations).toEqual([]);
    },
  );
});

describe.each([expressWithCatchAll, fastifyWithCatchAll])('$name', (kind) => {
  test.each(methodsAndPaths.rows)('$name never pauses the rule', async (row) => {
    const { violations } = await tried({ ...row, framework: undefined as never }, kind);
    expect(violations).toEqual([]);
  });
});
