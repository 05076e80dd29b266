import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { NEXT_APP } from './next-app.ts';

// Its types are those of a CommonJS module, whose default is the module for Node.
const next = createRequire(import.meta.url)('next') as typeof import('next').default;

/** Next in production, with every request sent to one of its routes. */
export async function nextServer(route: string) {
  const app = next({ dev: false, dir: NEXT_APP });
  await app.prepare();
  const handler = app.getRequestHandler();
  return createServer((request, response) => {
    request.url = route;
    void handler(request, response);
  }).listen(0, '127.0.0.1');
}
