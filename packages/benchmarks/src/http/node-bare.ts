import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import { collected, writeAnswer } from './answer.ts';

/** `node:http` that collects the body and answers. */
export const listen = () =>
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      collected(Buffer.concat(chunks));
      writeAnswer(request, response);
    });
  }).listen(0, '127.0.0.1');
