import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { compile } from '../src/compile.ts';
import {
  chunked,
  endsByItself,
  exchange,
  findProgram,
  requestBytes,
  serveLocally,
  signedDelivery,
  startProgram,
  tcpProxy,
} from '../src/index.ts';

// What tests of other packages rely on, where a mistake would let them pass whatever they test.

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

describe('a program of a test', () => {
  it('is taken at its word if it ends by itself, and what it printed is told', async () => {
    expect(await endsByItself(FOLDER, `console.log('well'); console.error('done');`)).toMatch(
      /^(well\ndone|done\nwell)\n$/,
    );
  });

  it.each<[string, string, RegExp]>([
    ['fails', `console.log('so far'); process.exit(3);`, /^It ended with 3, .*\nso far\n/],
    ['is ended', `process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 9);`, /SIGTERM/],
    ['is held by a timer', `console.log('so far'); setTimeout(() => {}, 3_300);`, /so far/],
  ])('has not ended by itself if it %s', async (_how, code, says) => {
    await expect(endsByItself(FOLDER, code)).rejects.toThrow(says);
  });

  it('is not waited for once it has ended without what it should print', async () => {
    const program = startProgram(FOLDER, `console.log('first');`);
    await program.printed('first');
    await expect(program.printed('second')).rejects.toThrow(
      'It ended without printing second:\nfirst',
    );
  });
});

it('a program of the machine is the first of its names that the PATH has, and can be run', () => {
  const folder = mkdtempSync(join(FOLDER, '.path-'));
  const path = process.env['PATH'];
  try {
    const files = { text: 0o644, second: 0o755, first: 0o755 };
    for (const [name, mode] of Object.entries(files)) {
      writeFileSync(join(folder, name), '');
      chmodSync(join(folder, name), mode);
    }
    process.env['PATH'] = [join(folder, 'none'), folder].join(delimiter);
    expect(findProgram('missing', 'second', 'first')).toBe(join(folder, 'second'));
    for (const none of ['missing', 'text']) expect(findProgram(none)).toBeUndefined();
  } finally {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true });
  }
});

it('a program that does not compile has errors, and one beside it has none', () => {
  const folder = mkdtempSync(join(FOLDER, '.compiled-'));
  try {
    const [good, bad] = ['good.ts', 'bad.ts'].map((name) => join(folder, name)) as [string, string];
    writeFileSync(good, 'export const one: number = 1;\n');
    writeFileSync(bad, `export const two: number = 'two';\nexport const all = [1][0] * 2;\n`);
    const errors = compile([good, bad]);
    expect(errors.get(good)).toEqual([]);
    expect(errors.get(bad)).toEqual([
      "Type 'string' is not assignable to type 'number'.",
      "Object is possibly 'undefined'.",
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a request in bytes', () => {
  const text = (bytes: Buffer) => bytes.toString('latin1');
  const delivery = () => signedDelivery('http://127.0.0.1:1/hook', generateSecret(), 'ü!');

  it('is valid, and changed as a test says', async () => {
    const valid = await delivery();
    const [head = '', body] = text(requestBytes(valid)).split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual([
      ...['POST /hook HTTP/1.1', 'Host: 127.0.0.1:1', 'Content-Type: application/json'],
      ...['Connection: close', ...valid.signed, 'Content-Length: 3'],
    ]);
    expect(Buffer.from(body!, 'latin1').toString()).toBe('ü!');
    const changed = text(
      requestBytes(valid, {
        ...{ query: '?a=1', signed: [], framing: ['Transfer-Encoding: chunked'], keepAlive: true },
        ...{
          more: ['X-More: 1'],
          body: chunked(Buffer.from('12345'), { size: 4, trailer: 'T: 1' }),
        },
      }),
    );
    expect(changed.split('\r\n')).toEqual([
      ...['POST /hook?a=1 HTTP/1.1', 'Host: 127.0.0.1:1', 'Content-Type: application/json'],
      ...['Transfer-Encoding: chunked', 'X-More: 1', ''],
      ...['4', '1234', '1', '5', '0', 'T: 1', '', ''],
    ]);
  });

  it('is sent step by step, and all of its responses are read', async () => {
    const got: string[] = [];
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('data', (data) => {
        got.push(String(data));
        const outcome = got.length === 1 ? 'handled' : 'duplicate';
        socket.write(`HTTP/1.1 20${String(got.length)} OK\r\n\r\n{"outcome":"${outcome}"}`);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const steps = [Buffer.from('one'), { until: 'handled' }, Buffer.from('two')];
    const url = `http://127.0.0.1:${String(port)}`;
    expect(await exchange(url, steps, { responses: 2, timeoutMs: 20_000 })).toEqual({
      ...{ statuses: [201, 202], outcomes: ['handled', 'duplicate'] },
    });
    expect(got).toEqual(['one', 'two']);
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
});

describe('a proxy', () => {
  const opened: Socket[] = [];
  afterEach(() => {
    for (const socket of opened.splice(0)) socket.destroy();
  });

  it('passes on what is said, until it forgets its connections; new ones are passed on', async () => {
    const http = await serveLocally((_request, response) => response.end('here'));
    const proxy = await tcpProxy(Number(new URL(http.origin).port));
    const url = `http://127.0.0.1:${String(proxy.port)}`;
    const get = async () => (await fetch(url, { headers: { connection: 'close' } })).text();
    expect(await get()).toBe('here');
    const socket = connect(proxy.port, '127.0.0.1');
    opened.push(socket);
    const heard: string[] = [];
    for (const event of ['data', 'end', 'close', 'error'])
      socket.on(event, () => void heard.push(event));
    const request = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';
    socket.write(request);
    await once(socket, 'data');
    heard.length = 0;
    proxy.drop();
    socket.write(request);
    expect(await get()).toBe('here'); // which has arrived later than the other one could
    expect(heard).toEqual([]);
    await proxy.close();
    await http.close();
  });
});
