import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { mariadbProgram } from '@call-webhooks/contract-tests/servers/mysql';
import { postgresBinaries } from '@call-webhooks/contract-tests/servers/postgres';
import { describe, expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const LOADER = ['--import', 'tsx', '--conditions=@call-webhooks/source'];
const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };

const mariadb = { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' };

/** One tiny round of all contenders, in processes of their own. */
async function ask(question: string): Promise<void> {
  const args = [...LOADER, MAIN, question, '--quick', '--events', '100', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { results } = JSON.parse(stdout) as {
    results: Record<string, { costs: Record<string, Record<string, { median: number }>> }>;
  };
  for (const figures of Object.values(results[question]!.costs))
    for (const { median } of Object.values(figures)) expect(median).not.toBeNaN();
}

describe('a tiny round', () => {
  it.each(['verify', 'http', 'failing', 'import-cost'])('answers %s', ask, 240_000);
});

describeWithProgram('redis-server', 'a tiny round with servers', () => {
  describeWithProgram(postgres, 'of Redis and Postgres', () => {
    describeWithProgram(mariadb, 'and MariaDB', () => {
      it.each(['stores', 'remembered-events', 'removal'])('answers %s', ask, 240_000);
    });
  });
});
