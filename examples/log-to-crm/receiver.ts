// The receiver. Needs CALL_WEBHOOK_SECRET, RECORDING_WEBHOOK_SECRET, SERVICE_URL, API_TOKEN and CRM_URL.
// DATABASE_URL is a Postgres server; without it the database is in DATA_FOLDER, as the recordings are.
// Listens on PORT, or on a free port.
import { createClient } from '@call-webhooks/client';
import { closeOnSignal, ready } from '@call-webhooks/express';
import express from 'express';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crmAt } from './crm-client.ts';
import { openDatabase } from './database.ts';
import { createHook } from './hook.ts';

const { DATABASE_URL, DATA_FOLDER: folder = 'data', PORT = '0' } = process.env;

/** The value of an environment variable. Ends the process if there is none. */
function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  console.error(`${name} is not set: see README.md.`);
  process.exit(1);
}

const secret = [required('CALL_WEBHOOK_SECRET'), required('RECORDING_WEBHOOK_SECRET')];
const crm = crmAt(required('CRM_URL'));
const client = createClient({
  baseUrl: required('SERVICE_URL'),
  apiToken: required('API_TOKEN'),
});
await mkdir(folder, { recursive: true, mode: 0o700 }); // what is in it is personal
const database = await openDatabase(DATABASE_URL, join(folder, 'database'));

const hook = await createHook({
  secret,
  database,
  crm,
  recordings: client.recordings,
  folder: join(folder, 'recordings'),
  say: console.log,
});

const app = express();
app.all('/hook', hook);
app.get('/health', (_request, response) => void response.json({ ok: true }));
app.get('/ready', ready(hook));
app.use((_request, response) => void response.sendStatus(503)); // a 404 would pause the rule

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) {
    console.error(`PORT: ${error.message}`);
    process.exit(1);
  }
  const { port } = server.address() as AddressInfo;
  console.log(`listening on port ${String(port)}`);
  process.send?.({ url: `http://127.0.0.1:${String(port)}/hook`, port });
});
closeOnSignal(hook, { server, resources: [database] });
