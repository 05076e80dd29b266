import { describe, expect, test } from '@jest/globals';
import { ROW_GROUPS } from '../src/matrix/rows.ts';
import { methodsAndPaths } from '../src/matrix/rows/methods-and-paths.ts';
import {
  expressWithCatchAll,
  fastifyWithCatchAll,
  nodeTarget,
} from '../src/matrix/targets/in-process.ts';
import type { TargetKind } from '../src/matrix/target.ts';
import type { Row } from '../src/matrix/row.ts';
import { tryRow } from '../src/matrix/try-row.ts';

// All adapters, Next.js included, are tried by `npm run hostile`, which checks the table of the docs;
// and with it the row with 10,000 connections.

async function tried(row: Row, kind: TargetKind) {
  const target = await kind.start(row);
  try {
    return await tryRow(row, target);
  } finally {
    await target.close();
  }
}

describe.each(ROW_GROUPS)('$title, at node:http', ({ rows }) => {
  test.each(rows.filter(({ crowd = 0 }) => crowd === 0))('$name', async (row) => {
    expect((await tried(row, nodeTarget)).faults).toEqual([]);
  });
});

describe.each([expressWithCatchAll, fastifyWithCatchAll])('$name', (kind) => {
  test.each(methodsAndPaths.rows)('$name never pauses the rule', async (row) => {
    const { faults } = await tried({ ...row, framework: undefined as never }, kind);
    expect(faults).toEqual([]);
  });
});
