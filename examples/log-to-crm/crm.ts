// Simulates a CRM: PUT /calls/{id} writes an entry. The first requests fail.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { CrmEntry } from './crm-client.ts';

export interface SampleCrm {
  readonly url: string;
  /** Entries by call id. */
  readonly entries: Map<string, CrmEntry>;
  /** How many requests failed, and how many succeeded. */
  readonly counts: { failed: number; written: number };
  /** Runs this when the next request arrives, before it is handled. */
  beforeNext(run: () => Promise<void>): void;
  readonly server: Server;
}

/** @param failures how many requests get 503 at first */
export async function startCrm(failures: number): Promise<SampleCrm> {
  const entries = new Map<string, CrmEntry>();
  const counts = { failed: 0, written: 0 };
  let before: (() => Promise<void>) | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += piece as string;
      const run = before;
      before = undefined;
      await run?.();
      if (counts.failed < failures) {
        counts.failed++;
        response.writeHead(503).end();
        return;
      }
      counts.written++;
      const callId = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
      entries.set(callId, JSON.parse(body) as CrmEntry);
      response.writeHead(204).end();
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  return { url, entries, counts, server, beforeNext: (run) => (before = run) };
}
