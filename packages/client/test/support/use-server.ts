import { afterEach, beforeEach } from '@jest/globals';
import { startServer, type Handler, type TestServer } from './server.ts';

/** The server of the running test; each test says what it answers. */
export interface AnsweringServer extends Pick<TestServer, 'origin' | 'requests'> {
  answer: Handler;
}

/** Gives every test of a file, or of a `describe`, a server of its own, and closes it afterwards. */
export function useServer(first: Handler = () => undefined): AnsweringServer {
  let running: TestServer;
  const server: AnsweringServer = {
    answer: first,
    get origin() {
      return running.origin;
    },
    get requests() {
      return running.requests;
    },
  };
  beforeEach(async () => {
    server.answer = first;
    running = await startServer((...request) => server.answer(...request));
  });
  afterEach(() => running.close());
  return server;
}
