import { expect, test } from '@jest/globals';
import {
  describeWithProgram,
  postgresBinaries,
  startPostgres,
} from '@call-webhooks/contract-tests';
import { postgresStore } from '@call-webhooks/postgres';
import { statusLine } from '@call-webhooks/recovery';
import { Pool } from 'pg';
import { testResources } from '../test-resources.ts';
import { startService, type Engine } from './service.ts';

const own = testResources();
const COMPLETED = 'call:completed';

/**
 * A Postgres whose clock is that of the test: the schema `clock` comes before `pg_catalog` in its search path, so that
 * its function is called instead.
 */
async function postgresEngine(now: () => number): Promise<Engine> {
  const server = await startPostgres({ settings: { search_path: 'clock,pg_catalog,public' } });
  own.add({ close: () => server.remove() });
  const pool = new Pool({ connectionString: server.url });
  // end() resolves before the sockets are closed, and the server ends what is still open.
  pool.on('error', () => undefined);
  own.add({ close: () => pool.end() });
  await pool.query(`CREATE SCHEMA clock;
CREATE TABLE clock.time (at double precision NOT NULL);
INSERT INTO clock.time VALUES (0);
CREATE FUNCTION clock.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
  AS 'SELECT pg_catalog.to_timestamp(at / 1000) FROM clock.time'`);
  const setClock = (at: number) => pool.query('UPDATE clock.time SET at = $1', [at]);
  const store = postgresStore(pool, { now });
  await setClock(now());
  await store.migrate();
  return { store, setClock, program: 'observed-machine.ts', input: { postgresUrl: server.url } };
}

/** What a console says, and whether a gauge of its process has the incident. */
async function seenOn(origin: string) {
  const overview = await fetch(`${origin}/ops/api/overview`);
  const { status } = (await overview.json()) as {
    status: { line: string; attention: { kind: string; urgent: boolean; since: number }[] };
  };
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  const gauge = metrics
    .split('\n')
    .find((series) =>
      ['call_webhooks_attention{', 'kind="rejected"', `="${COMPLETED}"`, 'urgent="true"'].every(
        (part) => series.includes(part),
      ),
    );
  return { line: status.line, attention: status.attention, gauge: gauge?.split(' ')[1] };
}

const POSTGRES = { name: 'Postgres', path: postgresBinaries(), installedBy: 'postgresql' };

describeWithProgram(POSTGRES, 'a rotation that is not deployed, on Postgres', () => {
  test('is in the status, the console, the metrics and the log at the same time, and before that no screen says that all is well', async () => {
    const service = await startService(own, { engine: postgresEngine });
    const [first = '', second = ''] = service.origins;
    await service.pass(60);
    await service.settle();
    // A process asks for its gauge once a minute: the first one before the incident, the second one in it.
    expect(await seenOn(first)).toMatchObject({
      ...{ line: 'All 3 events are arriving.', attention: [], gauge: '0' },
    });
    expect(service.lines).toEqual([]);

    service.of().rotate(COMPLETED);
    const early: string[] = [];
    let firstAt = 0;
    const isFound = async () => {
      if (service.lines.length === 0) return false;
      firstAt ||= service.outside.now;
      await service.settle();
      const found = await service.status();
      if (found.attention.length > 0) return true;
      early.push(statusLine(found), (await seenOn(first)).line);
      return false;
    };
    await service.pass(25, isFound);
    expect(service.outside.now - firstAt).toBeLessThanOrEqual(6 * 60_000);
    expect(service.of().isPaused(COMPLETED)).toBe(false);

    // Too early to judge, and no word that all is well.
    expect(early.length).toBeGreaterThan(0);
    for (const line of early) {
      expect(line).toMatch(/^\d+ deliver(?:y has|ies have) failed verification since /);
      expect(line).not.toContain('All 3 events');
    }
    const { attention } = await service.status();
    expect(attention).toMatchObject([{ kind: 'rejected', urgent: true, eventName: COMPLETED }]);
    const { since } = attention[0]!;
    const seen = await seenOn(second);
    expect(seen).toMatchObject({
      line: '1 thing needs attention: `call:completed` cannot be verified.',
      attention: [{ kind: 'rejected', urgent: true, since }],
      gauge: '1',
    });
    expect(service.lines.at(-1)).toMatchObject({
      level: 'warn',
      fields: { outcome: 'signature-mismatch' },
      message: expect.stringMatching(/Last verified delivery: secret-\w+ \d+ (?:s|min) ago/),
    });
  }, 180_000);
});
