import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from '@jest/globals';
import { changesOf } from '../src/simulator/updates.ts';

test('a stream of changes that nobody reads ends with its command, even if fetch forgets the signal', async () => {
  const server = createServer((_request, response) => response.write('\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const command = new AbortController();
  const requested = once(server, 'request');
  const connection = {
    url,
    signal: command.signal,
    stream: async () => (await fetch(url)).body, // as when it has forgotten it
  };
  await changesOf(connection as Parameters<typeof changesOf>[0]);
  const [, response] = (await requested) as [unknown, NodeJS.EventEmitter];
  const ended = once(response, 'close');
  command.abort();
  await ended;
  server.close();
});
