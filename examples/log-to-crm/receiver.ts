// The receiver. Needs CALL_WEBHOOK_SECRET, SERVICE_URL, API_TOKEN and CRM_URL. DATABASE_URL is a Postgres
// server; without it the database is in DATA_FOLDER, as the recordings are. Listens on PORT, or on a free
// port.
import { createClient } from '@call-webhooks/client';
import express from 'express';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crmAt } from './crm-client.ts';
import { openDatabase } from './database.ts';
import { createHook } from './hook.ts';
import '../plain-errors.ts';

const { CALL_WEBHOOK_SECRET, SERVICE_URL = '', API_TOKEN = '', CRM_URL = '' } = process.env;
const folder = process.env['DATA_FOLDER'] ?? 'data';
const client = createClient({ baseUrl: SERVICE_URL, apiToken: API_TOKEN });
await mkdir(folder, { recursive: true, mode: 0o700 }); // what is in it is personal
const database = await openDatabase(process.env['DATABASE_URL'], join(folder, 'database'));

const hook = await createHook({
  secret: CALL_WEBHOOK_SECRET,
  database,
  crm: crmAt(CRM_URL),
  recordings: client.recordings,
  folder: join(folder, 'recordings'),
  say: console.log,
});

const app = express();
app.all('/hook', hook);

const server = app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  console.log(`listening on port ${String(port)}`);
  process.send?.({ url: `http://127.0.0.1:${String(port)}/hook`, port });
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close();
    void hook.receiver
      .close()
      .then(() => {
        server.closeIdleConnections();
        return database.close();
      })
      .then(() => process.exit(0));
  });
}
