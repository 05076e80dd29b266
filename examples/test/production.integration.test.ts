import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  freePort,
  startPostgres,
  waitFor,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { postgresBinaries } from '@call-webhooks/contract-tests/servers/postgres';
import pg from 'pg';
import { folderOf, startProgram } from './running-app.ts';

const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };

describeWithProgram(postgres, 'examples/production', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  it('npm run test', async () => {
    const env = { ...process.env, NODE_OPTIONS: '--conditions=@call-webhooks/source' };
    await promisify(execFile)('npm', ['run', '--silent', 'test'], {
      cwd: folderOf('production'),
      env,
    });
  });

  it('writes one row for a call, shows it to the operator and to Prometheus, and closes in order', async () => {
    const [PORT, METRICS_PORT, SIMULATOR_PORT] = [
      String(await freePort()),
      String(await freePort()),
      String(await freePort()),
    ];
    const ports = { PORT, METRICS_PORT, SIMULATOR_PORT };
    const app = startProgram('production', 'dev.ts', { DATABASE_URL: server.url, ...ports });
    await app.printed(/listening at/);
    const origin = `http://127.0.0.1:${PORT}`;
    const placed = await fetch(`http://127.0.0.1:${SIMULATOR_PORT}/_sim/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"durationSeconds":1}',
    });
    expect(placed.status).toBe(201);

    const pool = new pg.Pool({ connectionString: server.url });
    const calls = async () => (await pool.query('SELECT * FROM calls')).rows as object[];
    await waitFor(async () => {
      const [row] = await calls();
      return row !== undefined && Object.values(row).every((value) => value !== null);
    });
    expect(await calls()).toEqual([
      {
        id: expect.any(String),
        started: true,
        ended_at: expect.any(Date),
        recording_url: expect.stringContaining('/recording'),
      },
    ]);
    await pool.end();

    expect((await fetch(`${origin}/health`)).status).toBe(200);
    expect((await fetch(`${origin}/ready`)).status).toBe(200);
    expect((await fetch(`${origin}/hoook`, { method: 'POST' })).status).toBe(503);
    expect((await fetch(`${origin}/ops/webhooks/`)).status).toBe(401);
    const authorization = `Basic ${btoa('operator:only-for-development')}`;
    const page = await fetch(`${origin}/ops/webhooks/`, { headers: { authorization } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')]);
    const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
    expect(metrics).toMatch(/call_webhooks_deliveries_total\{.*outcome="handled".*\} 3/s);
    expect(metrics).toContain('call_webhooks_attention{');

    expect(await app.end('SIGTERM')).toBe(0);
    expect(app.output()).toContain('closed');
  });
});
