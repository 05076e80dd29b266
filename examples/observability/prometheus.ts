// Starts a Prometheus with the config and the alert rules of the docs, if it is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CONFIG = new URL('../../docs/observability/', import.meta.url);

/**
 * @param port where it listens
 * @param target the host and port that it scrapes
 * @returns `undefined` if it is not installed
 */
export async function startPrometheus(port: number, target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-prometheus-'));
  const config = readFileSync(new URL('prometheus.yml', CONFIG), 'utf8');
  writeFileSync(join(folder, 'prometheus.yml'), config.replace('localhost:9464', target));
  copyFileSync(new URL('alerts.yml', CONFIG), join(folder, 'alerts.yml'));
  const child = spawn(
    'prometheus',
    [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${String(port)}`,
      '--log.level=error',
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const remove = () => {
    rmSync(folder, { recursive: true });
  };
  try {
    await once(child, 'spawn');
  } catch {
    remove();
    return undefined;
  }
  return {
    async close() {
      if (child.exitCode === null && child.kill()) await once(child, 'exit');
      remove();
    },
  };
}
