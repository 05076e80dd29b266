import { Redis as Upstash } from '@upstash/redis';
import { Decoder, GlideClient, Logger } from '@valkey/valkey-glide';
import { Redis as Ioredis } from 'ioredis';
import { createClient } from 'redis';
import type { RedisClient } from '../../src/index.ts';
import { upstashBridge } from './upstash-bridge.ts';

// It warns of each script that a server does not know yet.
Logger.setLoggerConfig('error');

export interface Connected {
  client: RedisClient;
  close(): Promise<void>;
}

async function glide(port: number, options: object = {}): Promise<Connected> {
  const client = await GlideClient.createClient({
    addresses: [{ host: '127.0.0.1', port }],
    lazyConnect: true,
    requestTimeout: 5_000, // 250 ms by default, which a busy machine may need
    ...options,
  });
  return { client, close: async () => client.close() };
}

/** Each client that the store knows, connected to a server on the loopback. */
export const CLIENTS: Record<string, (port: number) => Promise<Connected>> = {
  ioredis: (port) => {
    const client = new Ioredis(port, '127.0.0.1', { socketTimeout: 60_000 });
    client.on('error', () => undefined);
    return Promise.resolve({ client, close: async () => client.disconnect() });
  },

  async 'node-redis'(port) {
    const client = createClient({ socket: { host: '127.0.0.1', port } });
    client.on('error', () => undefined);
    const connecting = client.connect().catch(() => undefined); // goes on trying while it is down
    await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 200))]);
    return { client, close: async () => client.destroy() };
  },

  'valkey-glide': (port) => glide(port),
  'valkey-glide that decodes nothing': (port) => glide(port, { defaultDecoder: Decoder.Bytes }),

  /** The real client, over HTTP, to a bridge that passes its commands on to the server. */
  async '@upstash/redis'(port) {
    const bridge = await upstashBridge(port);
    const client = new Upstash({ url: bridge.url, token: 'token', enableTelemetry: false });
    return { client, close: bridge.close };
  },
};
