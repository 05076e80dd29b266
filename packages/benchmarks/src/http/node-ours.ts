import { createServer } from 'node:http';
import { createNodeHandler } from '@call-webhooks/core/node';
import { OPTIONS } from './receiver-options.ts';

export const listen = () => {
  const handler = createNodeHandler(OPTIONS);
  return createServer((request, response) => void handler(request, response)).listen(
    0,
    '127.0.0.1',
  );
};
