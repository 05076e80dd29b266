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

  'node + call-webhooks': async (root: string) => {
    const { createNodeHandler } = await importPackage<typeof import('@call-webhooks/core/node')>(
      root,
      'core',
      './node',
    );
    const handler = createNodeHandler(RECEIVER_OPTIONS);
    return createServer((request, response) => void handler(request, response)).listen(0, HOST);
  },
};
