import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { NEXT_APP } from './next-app.ts';

/** By hand, as Next's own types change those of `process.env` for all that is checked with them. */
type Next = (options: { dev: boolean; dir: string }) => {
  prepare(): Promise<void>;
  getRequestHandler(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};
const next = createRequire(import.meta.url)('next') as Next;

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
