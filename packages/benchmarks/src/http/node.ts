import { Buffer } from 'node:buffer';
import diagnostics from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { importPackage } from '../checkout.ts';
import { handle, RECEIVER_OPTIONS, writeResponse } from './shared.ts';

const HOST = '127.0.0.1';

export const servers = {
  /** Collects the body and responds. */
  'node bare': () =>
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        handle(Buffer.concat(chunks));
        writeResponse(request, response);
      });
    }).listen(0, HOST),

  'node + call-webhooks': (root: string) => receiver(root, {}),

  /** Each delivery is of a call of its own. */
  'node + call-webhooks oneAtATime': (root: string) => receiver(root, { oneAtATime: true }),

  'node + call-webhooks without channels': (root: string) =>
    withoutChannels(() => receiver(root, {})),
};

/**
 * Loads core as on a runtime that has no `node:diagnostics_channel`. Core opens its channels when it is
 * loaded, so it then has none for as long as the process lives.
 */
async function withoutChannels<T>(load: () => Promise<T>): Promise<T> {
  const { channel, tracingChannel } = diagnostics;
  Object.assign(diagnostics, { channel: undefined, tracingChannel: undefined });
  try {
    return await load();
  } finally {
    Object.assign(diagnostics, { channel, tracingChannel });
  }
}

async function receiver(root: string, options: { oneAtATime?: true }) {
  const { createNodeHandler } = await importPackage<typeof import('@call-webhooks/core/node')>(
    root,
    'core',
    './node',
  );
  const handler = createNodeHandler({ ...RECEIVER_OPTIONS, ...options });
  return createServer((request, response) => void handler(request, response)).listen(0, HOST);
}
