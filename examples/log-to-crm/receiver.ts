// The receiver. Needs CALL_WEBHOOK_SECRET, SERVICE_URL, API_TOKEN, CRM_URL and DATA_FOLDER; listens on
// PORT, or on a free port.
import { createClient } from '@call-webhooks/client';
import { callWebhooks } from '@call-webhooks/express';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { crmAt } from './crm-client.ts';
import { createHandlers } from './handlers.ts';
import { knownCalls } from './known-calls.ts';
import '../plain-errors.ts';

const { CALL_WEBHOOK_SECRET, SERVICE_URL = '', API_TOKEN = '', CRM_URL = '' } = process.env;
const folder = process.env['DATA_FOLDER'] ?? 'data';
const client = createClient({ baseUrl: SERVICE_URL, apiToken: API_TOKEN });

const hook = callWebhooks({
  secret: CALL_WEBHOOK_SECRET,
  on: await createHandlers({
    calls: await knownCalls(join(folder, 'calls')),
    crm: crmAt(CRM_URL),
    recordings: client.recordings,
    folder: join(folder, 'recordings'),
    say: console.log,
  }),
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
    server.close(() => process.exit(0));
    void hook.receiver.close().then(() => {
      server.closeIdleConnections();
    });
  });
}
