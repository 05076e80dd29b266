import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { ROW_GROUPS } from '../src/matrix/rows.ts';
import { tableOf, type GroupResult } from '../src/matrix/table.ts';
import { expressTarget, fastifyTarget, nodeTarget } from '../src/matrix/targets/in-process.ts';
import { nextTarget, startNextApp } from '../src/matrix/targets/next.ts';
import type { Row } from '../src/matrix/row.ts';
import type { TargetFactory } from '../src/matrix/target.ts';
import { tryRow, type Observation } from '../src/matrix/try-row.ts';

// Tries every row at every adapter, and writes the table of docs/evidence/hostile-input.md; with --check
// it only compares. `npm run hostile -w @call-webhooks/verification`

const DOC = fileURLToPath(new URL('../../../docs/evidence/hostile-input.md', import.meta.url));
const [BEGIN, END] = ['<!-- table: begin -->', '<!-- table: end -->'];
const check = process.argv.includes('--check');

const app = await startNextApp();
const kinds = [
  nodeTarget,
  expressTarget,
  fastifyTarget,
  nextTarget('Next.js App Router', app, '/hook'),
  nextTarget('Next.js Pages Router', app, '/api/hook'),
];
const violations: string[] = [];

async function observe(kind: TargetFactory, row: Row) {
  const target = await kind.start(row);
  try {
    const seen = await tryRow(row, target);
    for (const violation of seen.violations)
      violations.push(`${kind.name}, ${row.name}: ${violation} (${seen.response})`);
    return seen;
  } finally {
    await target.close();
  }
}

/** Tries a row at all adapters concurrently, or one after another when it opens many connections. */
async function observeAll(row: Row): Promise<Map<string, Observation>> {
  const seen = new Map<string, Observation>();
  const one = async (kind: TargetFactory) => void seen.set(kind.name, await observe(kind, row));
  if (row.idleConnections === undefined) await Promise.all(kinds.map(one));
  else for (const kind of kinds) await one(kind);
  return seen;
}

try {
  const groups: GroupResult[] = [];
  for (const { title, rows } of ROW_GROUPS) {
    const seenRows = [];
    for (const row of rows) {
      const { name, oneOf } = row;
      seenRows.push({ name, oneOf, seen: await observeAll(row) });
    }
    groups.push({ title, rows: seenRows });
    console.log(`${title}: ${String(rows.length)} rows at ${String(kinds.length)} adapters`);
  }
  report(groups);
} finally {
  await app.stop();
}

function report(groups: readonly GroupResult[]): void {
  for (const violation of violations) console.error(`VIOLATION  ${violation}`);
  if (violations.length > 0) process.exitCode = 1;
  void write(
    tableOf(
      groups,
      kinds.map(({ name }) => name),
    ),
  );
}

async function write(table: string): Promise<void> {
  const doc = readFileSync(DOC, 'utf8');
  const [head, rest] = doc.split(BEGIN);
  const [, tail] = rest?.split(END) ?? [];
  if (head === undefined || tail === undefined) throw new Error(`${DOC} has no table markers`);
  const options = { ...(await resolveConfig(DOC)), parser: 'markdown' };
  const made = await format(`${head}${BEGIN}\n\n${table}\n\n${END}${tail}`, options);
  if (made === doc) {
    console.log('docs/evidence/hostile-input.md is up to date.');
  } else if (check) {
    console.error(
      'docs/evidence/hostile-input.md is out of date. Run `npm run hostile -w @call-webhooks/verification`.',
    );
    process.exitCode = 1;
  } else {
    writeFileSync(DOC, made);
    console.log('docs/evidence/hostile-input.md has been rewritten.');
  }
}
