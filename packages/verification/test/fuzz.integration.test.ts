import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { createReceiver, type HandlerContext, type Outcome } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { exchange } from '@call-webhooks/contract-tests/raw-socket';
import fc from 'fast-check';
import { mutationLists } from '../src/fuzz/mutations.ts';
import { payloads } from '../src/fuzz/payloads.ts';
import { SignedRequests, type FuzzRequest } from '../src/fuzz/signed-requests.ts';
import { expectedStatus } from '../src/model/expected-statuses.ts';
import { report, seed } from './model-scenarios.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 20_000);
const socketRuns = Number(process.env.FUZZ_SOCKET_RUNS ?? 1_000);
const counts = new Map<string, number>();
const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

afterAll(() => {
  report(
    `fuzz: seed ${String(seed)}, ${String(runs)} requests and ${String(socketRuns)} over sockets (SEED, FUZZ_RUNS, FUZZ_SOCKET_RUNS); outcomes ${JSON.stringify(Object.fromEntries(counts))}`,
  );
});

/** Options of a receiver whose handlers record everything that was not signed. */
function fuzzed() {
  const signed = new SignedRequests();
  const unsigned: string[] = [];
  const handle = (_event: unknown, { webhookId, timestamp, rawBody }: HandlerContext) => {
    if (!signed.has(webhookId, timestamp, rawBody)) unsigned.push(webhookId);
  };
  const options = {
    secret: signed.secret,
    on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
    onUnhandled: handle,
    bodyTimeout: 100,
    logger: { warn: () => undefined, error: () => undefined },
    onOutcome: ({ outcome, status }: Outcome) => {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      if (expectedStatus(outcome) !== status) unsigned.push(`${outcome} as ${String(status)}`);
    },
  };
  return { signed, unsigned, options };
}

/** Whether fewer bytes arrived than the headers announce. */
const isCutOff = ({ headers, body }: FuzzRequest) =>
  Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'content-length' && Number(value) > body.length,
  );

test('no mutated request gets an unexpected response, throws, or reaches a handler', async () => {
  const { signed, unsigned, options } = fuzzed();
  const receiver = createReceiver(options);
  await fc.assert(
    fc.asyncProperty(payloads, mutationLists, async (body, journey) => {
      const request = await signed.next(body);
      for (const mutate of journey) mutate(request);
      const { status, body: responseBody } = await receiver.receive(request);
      const expected = [200, 401, 405, 409, 413, 415, 422];
      expect(isCutOff(request) ? [...expected, 408] : expected).toContain(status);
      expect(responseBody).toMatch(/^\{"outcome":"[a-z-]+"\}$/);
      expect(unsigned).toEqual([]);
    }),
    { seed, numRuns: runs },
  );
  for (const outcome of [
    'handled',
    'duplicate',
    'invalid-payload',
    'signature-mismatch',
    'malformed-header',
    'missing-header',
    'unsupported-encoding',
    'method-not-allowed',
  ])
    expect(counts.get(outcome)).toBeGreaterThan(0);
}, 600_000);

test('no request with broken bytes over a socket gets an unexpected response or reaches a handler', async () => {
  const { signed, unsigned, options } = fuzzed();
  const handler = createNodeHandler(options);
  const server = createServer((request, response) => void handler(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  try {
    await fc.assert(
      fc.asyncProperty(
        payloads,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
        async (body, broken) => {
          const bytes = bytesOf(await signed.next(body));
          for (const [at, byte] of broken) bytes[at % bytes.length] = byte;
          const { statuses } = await exchange(url, [bytes, { end: 'fin' }], { timeoutMs: 1_000 });
          for (const status of statuses)
            expect([200, 400, 401, 405, 408, 409, 413, 415, 417, 422, 431, 501, 505]).toContain(
              status,
            );
          expect(unsigned).toEqual([]);
        },
      ),
      { seed, numRuns: socketRuns },
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
}, 600_000);

function bytesOf({ method, headers, body }: Awaited<ReturnType<SignedRequests['next']>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  const head = `${method} /hook HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${String(body.length)}\r\n${lines.join('\r\n')}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
