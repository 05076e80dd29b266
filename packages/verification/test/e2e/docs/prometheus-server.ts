import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, waitFor } from '@call-webhooks/contract-tests';

/** A Prometheus of a test's own: on the loopback, in a folder of its own, gone after `stop()`. */
export interface PrometheusServer {
  /** Asks its HTTP API; the `data` of the answer. */
  api(path: string, query?: Record<string, string>): Promise<unknown>;
  /** The values of an expression now, by their labels. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>;
  stop(): Promise<void>;
}

/** @param config the file that it is started with */
export async function startPrometheus(config: string): Promise<PrometheusServer> {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const address = `127.0.0.1:${String(await freePort())}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitFor(async () => (await isReady()) || child.exitCode !== null, {
    within: 30_000,
    every: 50,
    what: 'Prometheus is ready',
  });
  if (child.exitCode !== null) throw new Error(`Prometheus did not start:\n${log}`);

  async function api(path: string, query: Record<string, string> = {}): Promise<unknown> {
    const url = `http://${address}/api/v1/${path}?${new URLSearchParams(query).toString()}`;
    const answer = (await (await fetch(url)).json()) as { data?: unknown; error?: string };
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }

  return {
    api,
    async query(expression) {
      const { result } = (await api('query', { query: expression })) as {
        result: { metric: Record<string, string>; value: [number, string] }[];
      };
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    async stop() {
      const exited = once(child, 'exit');
      if (child.exitCode === null && child.kill()) await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
