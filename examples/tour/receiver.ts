// The receiver of the tour, in its own process. Its CRM fails once.
import type { AddressInfo } from 'node:net';
import { callWebhooks, closeOnSignal } from '@call-webhooks/express';
import express from 'express';
import { z } from 'zod';

const { CALL_WEBHOOK_SECRET, RECORDING_WEBHOOK_SECRET, PORT = '0' } = process.env;

const hook = callWebhooks({
  secret: [CALL_WEBHOOK_SECRET, RECORDING_WEBHOOK_SECRET],
  on: {
    'call:started': (event) => console.log(`call ${event.callId ?? '?'} started`),
    'call:completed': (event, { call, attempt }) => {
      // Simulates a CRM that is down for a moment.
      if (call.calledName === 'Ola Berg' && attempt === 1)
        throw new Error('the CRM did not respond');
      console.log(`call ${event.callId ?? '?'} completed (attempt ${String(attempt)})`);
    },
    'call:recording-available': (event) => {
      const seconds = String(event.recordingDurationSeconds);
      console.log(`call ${event.callId} has a recording of ${seconds} s`);
    },
  },
  custom: {
    schema: z.object({ ticket: z.string(), note: z.string() }),
    key: (payload) => payload.ticket,
    handle: (payload) => console.log(`custom payload for ticket ${payload.ticket}`),
  },
});

const server = express()
  .all('/hook', hook)
  .listen(Number(PORT), '127.0.0.1', (error) => {
    if (error) {
      console.error(`PORT: ${error.message}`);
      process.exit(1);
    }
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${String(port)}/hook`;
    console.log(`listening on ${url}`);
    process.send?.({ url });
  });

process.once('disconnect', () => process.exit()); // the parent is gone
closeOnSignal(hook, { server, resources: [() => process.connected && process.disconnect()] });
