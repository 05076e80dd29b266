import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { readRawBody } from '../../src/node.ts';
import { serve, setup, stopServers } from '../node-support.ts';

afterEach(stopServers);

const REQUESTS = 10_000;
const ANSWER = 'HTTP/1.1 401';

it('responds to pipelined requests as fast as they are read', async () => {
  const { post } = setup();
  let unanswered = 0;
  let most = 0;
  const port = await serve((req, res) => {
    most = Math.max(most, ++unanswered);
    res.on('finish', () => (unanswered -= 1));
    void post(req, res);
  });
  const socket = connect(port, '127.0.0.1');
  let answers = 0;
  let rest = ''; // an answer may come in two pieces
  socket.on('data', (piece: Buffer) => {
    const text = rest + piece.toString('latin1');
    answers += text.split(ANSWER).length - 1;
    rest = text.slice(1 - ANSWER.length);
    if (answers === REQUESTS) socket.end();
  });
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'.repeat(REQUESTS));
  await once(socket, 'close');
  expect(answers).toBe(REQUESTS);
  // What Node reads in one piece, 64 KB, is parsed before anything can be answered: 1,300 of these.
  expect(most).toBeLessThan(3_000);
});

it('bodies that end at once wait for the other sockets, 100 of them at most', async () => {
  let done = 0;
  const all = Array.from({ length: 103 }, async () => {
    const req = new IncomingMessage(new Socket());
    for (const chunk of ['x', null]) req.push(chunk);
    await readRawBody(req, { bodyLimit: 10, bodyTimeout: 1_000 });
    done += 1;
  });
  const doneBefore = await new Promise((resolve) => setImmediate(() => resolve(done)));
  await Promise.all(all);
  expect([doneBefore, done]).toEqual([3, 103]);
});
