// A receiver in Express. Needs CALL_WEBHOOK_SECRET; listens on PORT, or on a free port.
import { callWebhooks } from '@call-webhooks/express';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import '../plain-errors.ts';

const hook = callWebhooks({
  secret: process.env['CALL_WEBHOOK_SECRET'],
  on: {
    'call:started': (event) => console.log(`call ${event.callId ?? '?'} started`),
    'call:completed': (event, { call, attempt }) => {
      // Simulates a CRM that is down for a moment.
      if (call.calledName === 'Ola Berg' && attempt === 1)
        throw new Error('the CRM did not respond');
      console.log(`call ${event.callId ?? '?'} completed (attempt ${String(attempt)})`);
    },
    'call:recording-available': (event) =>
      console.log(
        `call ${event.callId} has a recording of ${String(event.recordingDurationSeconds)} s`,
      ),
  },
  custom: {
    schema: z.object({ ticket: z.string(), note: z.string() }),
    key: (payload) => payload.ticket,
    handle: (payload) => console.log(`custom payload for ticket ${payload.ticket}`),
  },
});

const app = express();
app.all('/hook', hook);
app.use(express.json()); // mount body parsers after the receiver

const server = app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}/hook`;
  console.log(`listening on ${url}`);
  // Tells the parent process, if there is one.
  process.send?.({ url });
});

process.once('disconnect', () => process.exit());
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => process.exit(0));
    void hook.receiver.close().then(() => {
      server.closeIdleConnections();
    });
  });
}
