import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { describeWithProgram, freePort, waitFor } from '@call-webhooks/contract-tests';
import { compile } from '@call-webhooks/contract-tests/compile';
import { createReceiver, generateSecret, sign, type Queue } from '@call-webhooks/core';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import amqp from 'amqplib';

// The samples of docs/forwarding.md, on the brokers that Debian has.

const page = readFileSync(new URL('../../../../docs/forwarding.md', import.meta.url), 'utf8');
const folder = fileURLToPath(new URL('.samples/', import.meta.url));
mkdirSync(folder, { recursive: true });
const files = Object.fromEntries(
  [...page.matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code = '']) => {
    const [, name = 'receiver'] = /export (?:async )?function (\w+)/.exec(code) ?? [];
    const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const file = join(folder, `${kebab}.ts`);
    writeFileSync(file, code);
    return [name, file];
  }),
);

it('the samples have no errors of types', () => {
  expect(Object.keys(files)).toHaveLength(6);
  for (const errors of compile(Object.values(files)).values()) expect(errors).toEqual([]);
});

// The samples tell about a connection that is lost.
beforeAll(() => void jest.spyOn(console, 'error').mockImplementation(() => undefined));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that is stopped at the end of the test, and its temporary folder. */
function startServer(path: string, args: (data: string) => string[], env = {}) {
  const data = mkdtempSync(join(tmpdir(), 'broker-'));
  const child = spawn(path, args(data), {
    stdio: 'ignore',
    env: {
      ...process.env,
      ...Object.fromEntries(
        Object.entries(env).map(([k, v]) => [k, String(v).replace('DATA', data)]),
      ),
    },
    detached: true,
  });
  let stopped: Promise<unknown> | undefined;
  const stop = () =>
    (stopped ??= (async () => {
      const closed = once(child, 'close');
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await closed;
      rmSync(data, { recursive: true, force: true });
    })());
  closing.push(stop);
  return stop;
}

const callId = 'call-1';
const bodyOf = (id: string) =>
  Buffer.from(JSON.stringify({ eventName: 'call:completed', callId: id }));
const body = bodyOf(callId);

/** A receiver that forwards to the broker. */
async function forward(make: string, ...args: unknown[]) {
  const module = (await import(files[make]!)) as Record<
    string,
    (...given: unknown[]) => Promise<Queue>
  >;
  const queue = await module[make]!(...args);
  const secret = generateSecret();
  const logger = { warn: () => undefined, error: () => undefined };
  const receiver = createReceiver({
    secret,
    queue,
    logger,
    on: { 'call:completed': () => undefined },
  });
  closing.push(() => receiver.close());
  const deliver = async (id = callId) => {
    const sent = bodyOf(id);
    return (await receiver.receive({ headers: await sign({ secret, body: sent }), body: sent }))
      .status;
  };
  return { queue, receiver, deliver };
}

describeWithProgram('nats-server', 'NATS', (path) => {
  it('has the event before the service gets 202, once, and is down with 503', async () => {
    const port = await freePort();
    const stop = startServer(path, (data) => [
      '-js',
      '-sd',
      data,
      '-a',
      '127.0.0.1',
      '-p',
      String(port),
    ]);
    const servers = `127.0.0.1:${String(port)}`;
    const reader = await connected(() => connect({ servers, reconnect: false }));
    const { queue, deliver, receiver } = await forward('natsQueue', servers);
    expect(await deliver()).toBe(202);
    expect(await deliver()).toBe(200); // a duplicate for the receiver
    const key = `${callId}:call:completed`;
    const again = {
      webhookId: 'w',
      timestamp: 0,
      receivedAt: 0,
      key,
      body: body.toString('base64'),
    };
    await queue.enqueue(again); // another receiver, which has forgotten the event
    const consumers = jetstream(reader).consumers;
    const messages = await (
      await consumers.get('CALLS')
    ).fetch({ max_messages: 5, expires: 1_000 });
    const found: string[] = [];
    for await (const message of messages) found.push(message.string());
    expect(found).toEqual([body.toString()]);
    expect((await receiver.health()).ok).toBe(true);
    await reader.close();
    await stop();
    expect(await deliver('call-2')).toBe(503);
    await queue.close?.().catch(() => undefined);
  });
});

// The command of the PATH runs it as a user of its own, with the data of the machine.
const RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const rabbitmq = {
  name: 'rabbitmq-server',
  path: existsSync(RABBITMQ) ? RABBITMQ : undefined,
  installedBy: 'rabbitmq-server',
};

describeWithProgram(rabbitmq, 'RabbitMQ', (path) => {
  it('has the event before the service gets 202, and is down with 503', async () => {
    const [port, distribution] = [await freePort(), await freePort()];
    const stop = startServer(path, () => [], {
      RABBITMQ_NODENAME: `test${String(port)}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: port,
      RABBITMQ_DIST_PORT: distribution,
      RABBITMQ_MNESIA_BASE: 'DATA/mnesia',
      RABBITMQ_LOG_BASE: 'DATA/log',
      RABBITMQ_ENABLED_PLUGINS_FILE: 'DATA/plugins',
      HOME: 'DATA',
    });
    const url = `amqp://127.0.0.1:${String(port)}`;
    const reader = await connected(() => amqp.connect(url));
    reader.on('error', () => undefined);
    const { deliver, receiver } = await forward('rabbitQueue', url);
    expect(await deliver()).toBe(202);
    const message = await (await reader.createChannel()).get('calls', { noAck: true });
    expect(message && message.content.toString()).toBe(body.toString());
    expect(message && message.properties.messageId).toBe(`${callId}:call:completed`);
    expect((await receiver.health()).ok).toBe(true);
    await stop();
    expect(await deliver('call-2')).toBe(503);
  });
});

/** The connection to a server that has just been started. */
async function connected<Connection>(open: () => Promise<Connection>): Promise<Connection> {
  let connection: Connection | undefined;
  await waitFor(
    async () => {
      connection = await open().catch(() => undefined);
      return connection !== undefined;
    },
    { every: 200 },
  );
  return connection as Connection;
}
