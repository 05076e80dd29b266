import { Console } from 'node:console';
import diagnostics from 'node:diagnostics_channel';
import { type AddressInfo, createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { memoryStore, type Redact, type SecretProvider } from '../../src/index.ts';
import type { DeliveryMessage } from '../../src/internal.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { createTestReceiver, delivery, Lines, NOW, SECONDS, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const PERSON = { recipientName: 'Ada Lovelace', recipientEmail: 'ada@example.com' };
const CALL = { ...STARTED, ...PERSON };

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A handler whose call of another service fails. */
async function failingFetch() {
  const port = await closedPort();
  const handler = () =>
    fetch(`http://127.0.0.1:${String(port)}/people?email=ada%40example.com`).catch(
      // Node 24 gives the error of fetch no frames of its caller.
      (error: unknown) => {
        const { message, cause } = error as Error;
        throw new TypeError(message, { cause });
      },
    );
  return { cause: `connect ECONNREFUSED 127.0.0.1:${String(port)}`, handler };
}

describe('the line of a failed handler', () => {
  it('is one readable line on a console, with the frames below', async () => {
    const { cause, handler } = await failingFetch();
    const stream = new PassThrough();
    const logger = new Console(stream, stream);
    const { send } = createTestReceiver({ logger, on: { 'call:started': handler } });
    await send(CALL, { webhookId: 'id-1' });
    stream.end();
    const [line = '', ...frames] = (await text(stream)).trimEnd().split('\n');
    expect(line.replace(/durationMs=\d+/, 'durationMs=1')).toBe(
      `call-webhooks: 500 handler-failed: The handler failed: TypeError: fetch failed; cause: Error: ${cause} eventName=call:started callId=call-1 key=call-1:call:started webhookId=id-1 attempt=1 retriedBy=service durationMs=1 See https://call-webhooks.github.io/call-webhooks/outcomes.html#handler-failed`,
    );
    expect(frames.join('\n')).toMatch(/^ +at .*log-lines\.test\.ts:\d+:\d+/m);
    expect(frames).toContain(`  caused by Error: ${cause}`);
    expect(frames.every((frame) => /^ +(?:at|caused by) /.test(frame))).toBe(true);
  });

  it('tells of thrown values that are no errors', async () => {
    const { send, lines } = createTestReceiver({
      on: { 'call:started': () => Promise.reject('no contact Ada') }, // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors
    });
    await send(CALL);
    expect(lines[0]).toContain('The handler failed: no contact [redacted]');
  });
});

describe('the lines of others', () => {
  const refused = () =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error('connect EHOSTUNREACH') }));
  const schema = z.any().transform(() => {
    throw new TypeError('fetch failed', { cause: new Error('connect EHOSTUNREACH') });
  });

  it.each<[string, string, object]>([
    ['a store', 'store-unavailable', { store: { ...memoryStore(), admit: refused } }],
    ['a queue', 'store-unavailable', { queue: { enqueue: refused } }],
    ['a secret provider', 'secret-unavailable', { secret: refused }],
    ['a schema', 'invalid-payload', { custom: { schema, handle: refused } }],
  ])('%s: the cause and a copy of the error', async (_who, code, options) => {
    const logger = new Lines();
    const { receiver } = createTestReceiver({ ...options, logger });
    const payload = code === 'invalid-payload' ? { ticket: 1 } : CALL;
    const answer = await receiver.receive(await delivery(payload));
    expect(answer.outcome.outcome).toBe(code);
    expect(logger.entries).toHaveLength(1);
    const [entry] = logger.entries;
    expect(entry?.message).toContain('TypeError: fetch failed; cause: Error: connect EHOSTUNREACH');
    expect(entry?.fields['err']).toMatchObject({ name: 'TypeError', message: 'fetch failed' });
  });

  it('a sink that failed is in the line of the handler that failed', async () => {
    const logger = new Lines();
    const { send } = createTestReceiver({
      ...{ logger, maxAttempts: 1, deadLetter: refused },
      on: { 'call:started': () => Promise.reject(new Error('no')) },
    });
    await send(CALL);
    const sink = 'The deadLetter sink failed: TypeError: fetch failed; cause: Error: connect';
    expect(logger.entries.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        `call-webhooks: 500 handler-failed: The handler failed: Error: no. ${sink}`,
      ),
    ]);
    expect(logger.entries[0]?.fields).toMatchObject({ callId: 'call-1', err: { name: 'Error' } });
  });

  it('a key that is an email address is not in the line', async () => {
    const { send, lines } = createTestReceiver({
      custom: { key: () => 'ada@example.com', handle: () => Promise.reject(new Error('no')) },
    });
    await send({ ticket: 1 });
    expect(lines[0]).toContain("key: 'custom:[redacted]'");
  });
});

describe('the option redact', () => {
  const message = 'status completed of Ada at 10.0.0.5:5432, +15550104477';
  const call = { ...CALL, note: 'status', userId: 'user-1' };
  const on = {
    'call:started': () => {
      throw new Error(message, { cause: new Error('Ada') });
    },
  };
  const seen: unknown[] = [];
  const own = (text: string, event: unknown): string => {
    seen.push(event);
    return text.replace('Ada', '<name>');
  };
  const rows: [Redact | undefined, string][] = [
    [
      undefined,
      '[redacted] completed of [redacted] at 10.0.0.5:5432, [redacted]; cause: Error: [redacted]',
    ],
    [
      'standard',
      '[redacted] completed of [redacted] at 10.0.0.5:5432, [redacted]; cause: Error: [redacted]',
    ],
    ['off', `${message}; cause: Error: Ada`],
    [own, `${message.replace('Ada', '<name>')}; cause: Error: <name>`],
  ];

  it.each(rows)('%p, in a receiver and in a worker', async (redact, logged) => {
    const logger = new Lines();
    const options = { logger, on, redact };
    const { send, outcomes } = createTestReceiver(options);
    await send(call);
    const body = Buffer.from(JSON.stringify(call)).toString('base64');
    const job = { webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body };
    const result = await createJobProcessor(options)(job);
    const why = `The handler failed: Error: ${logged}`;
    expect(logger.entries).toMatchObject([
      { message: `call-webhooks: 500 handler-failed: ${why}` },
      { message: `call-webhooks: attempt 1 of 100 failed: ${why}` },
    ]);
    const err = logger.entries[0]?.fields['err'] as Error;
    expect(logged).toContain(err.message);
    expect(logged).toContain((err.cause as Error).message);
    // Outcomes, and what engines keep, are redacted whatever log lines are.
    expect(outcomes[0]?.error?.message).not.toMatch(/Ada|0104477/);
    expect(JSON.stringify(result)).not.toMatch(/Ada|0104477/);
  });

  it('a function gets the event', () => {
    expect(seen[0]).toEqual(call);
  });

  it.each(['strict', 5, null])('is refused as %p', (redact) => {
    expect(() => createTestReceiver({ redact: redact as never })).toThrow(
      "redact: expected 'standard', 'off' or a function",
    );
  });
});

it('a delivery that deliver() refuses is published with the error of its caller', async () => {
  const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
  const { receiver } = createTenantsReceiver({ secret, on: { 'call:started': () => undefined } });
  const published: unknown[] = [];
  const channel = diagnostics.tracingChannel('call-webhooks:delivery');
  const listeners = {
    error: (message: unknown) => void published.push((message as DeliveryMessage).error),
  };
  channel.subscribe(listeners as never);
  try {
    const refusal: unknown = await receiver.deliver(STARTED).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid-options' });
    expect(published).toEqual([refusal]);
  } finally {
    channel.unsubscribe(listeners as never);
  }
});
