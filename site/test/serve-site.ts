import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { SITE, SITE_FOLDER } from '../src/repository.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

export interface ServedSite {
  /** The address of a page, such as `outcomes.html`. */
  url(page: string): string;
  close(): Promise<void>;
}

/** Serves the built site below its path, as GitHub Pages does. */
export async function serveSite(): Promise<ServedSite> {
  const base = new URL(SITE).pathname;
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.slice(base.length) || 'index.html';
    try {
      const body = pathname.startsWith(base) ? readFileSync(join(SITE_FOLDER, path)) : undefined;
      const type = TYPES[extname(path)] ?? 'text/plain; charset=utf-8';
      response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: (page) => `${origin}${base}${page}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
