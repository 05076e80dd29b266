import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The server that the handlers in another runtime ask what to do. */
export interface Control {
  readonly url: string;
  /** The runs so far, such as `c1/1` for the first attempt of call `c1`. */
  readonly runs: string[];
  /** Says what becomes of a run: `true` when it should succeed. By default each succeeds at once. */
  decide(run: string, answer: Promise<boolean> | boolean): void;
  close(): Promise<void>;
}

export async function startControl(): Promise<Control> {
  const answers = new Map<string, Promise<boolean> | boolean>();
  const runs: string[] = [];
  const server = createServer((request, response) => {
    const run = (request.url ?? '').slice(1);
    runs.push(run);
    void Promise.resolve(answers.get(run) ?? true).then((ok) => {
      response.writeHead(ok ? 200 : 500).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    runs,
    decide: (run, answer) => void answers.set(run, answer),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
