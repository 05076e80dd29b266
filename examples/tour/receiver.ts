// The receiver of the tour, in its own process. Its CRM fails once, and a secret is missing for a while.
import type { AddressInfo } from 'node:net';
import { memoryStore } from '@call-webhooks/core';
import { callWebhooks, closeOnSignal } from '@call-webhooks/express';
import { status, statusLine } from '@call-webhooks/recovery';
import express from 'express';
import { z } from 'zod';
import { followingClock } from './clock.ts';

const { CALL_WEBHOOK_SECRET, RECORDING_WEBHOOK_SECRET, PORT = '0' } = process.env;

const clock = followingClock();
const store = memoryStore({ now: clock.now });

const startHook = (secret: readonly (string | undefined)[]) =>
  callWebhooks({
    secret: [...secret, RECORDING_WEBHOOK_SECRET],
    store,
    now: clock.now,
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

let secret: readonly (string | undefined)[] = [CALL_WEBHOOK_SECRET];
let hook = startHook(secret);

/** As a deploy does: another process on the same store. Closing the old one writes its log at once. */
async function deploy(secrets: readonly (string | undefined)[]): Promise<void> {
  await hook.receiver.close();
  secret = secrets;
  hook = startHook(secret);
}

/** What the tour asks for. */
export type Ask =
  { readonly follow: string } | { readonly deploy: readonly string[] } | { readonly status: true };

async function answer(ask: Ask): Promise<object> {
  if ('follow' in ask) clock.follow(ask.follow);
  else if ('deploy' in ask) await deploy(ask.deploy);
  else {
    await clock.sync();
    await deploy(secret);
    const found = await status({ store });
    return { line: statusLine(found), attention: found.attention };
  }
  return {};
}
process.on('message', (ask: Ask) => void answer(ask).then((told) => process.send?.(told)));

const server = express()
  .all('/hook', async (request, response) => {
    await clock.sync();
    await hook(request, response);
  })
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
closeOnSignal(
  { close: (options) => hook.receiver.close(options) },
  { server, resources: [() => process.connected && process.disconnect()] },
);
