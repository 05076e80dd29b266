import { Buffer } from 'node:buffer';
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
};

async function receiver(root: string, options: { oneAtATime?: true }) {
  const { createNodeHandler } = await importPackage<typeof import('@call-webhooks/core/node')>(
    root,
    'core',
    './node',
  );
  const handler = createNodeHandler({ ...RECEIVER_OPTIONS, ...options });
  return createServer((request, response) => void handler(request, response)).listen(0, HOST);
}
