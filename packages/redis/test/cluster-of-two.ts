import { redisServer, waitFor } from '@call-webhooks/contract-tests';
import { Cluster, Redis } from 'ioredis';

/** A cluster of two nodes, each with half of the slots. */
export async function clusterOfTwo() {
  const servers = [
    await redisServer({ cluster: [0, 8_191] }),
    await redisServer({ cluster: [8_192, 16_383] }),
  ];
  await Promise.all(servers.map((server) => server.start()));
  const admins = servers.map(({ port }) => new Redis(port, '127.0.0.1', { socketTimeout: 60_000 }));
  const [first, second] = admins as [Redis, Redis];
  // `<id> <host>:<port>@<port of the bus> …`
  const [, port, busPort] = /:(\d+)@(\d+)/.exec(String(await second.cluster('NODES'))) ?? [];
  await first.cluster('MEET', '127.0.0.1', Number(port), Number(busPort));
  for (const admin of admins)
    await waitFor(async () => {
      const info = await admin.cluster('INFO');
      return info.includes('cluster_state:ok') && info.includes('cluster_slots_ok:16384');
    });

  const nodes = servers.map((server) => ({ host: '127.0.0.1', port: server.port }));
  return {
    admins,
    nodes,
    connect: () => new Cluster(nodes, { redisOptions: { socketTimeout: 60_000 } }),
    async stop() {
      for (const admin of admins) admin.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
