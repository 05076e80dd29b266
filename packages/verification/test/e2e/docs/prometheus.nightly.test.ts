import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWithProgram, waitFor } from '@call-webhooks/contract-tests';
import { startPrometheus, type PrometheusServer } from './prometheus-server.ts';
import { observedReceivers } from './observed-receivers.ts';

const DOCS = fileURLToPath(new URL('../../../../../docs/observability', import.meta.url));
const read = (file: string) => readFileSync(join(DOCS, file), 'utf8');

interface Dashboard {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
}
const { panels } = JSON.parse(read('grafana-dashboard.json')) as Dashboard;
const expressions = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '1m')] as const),
);

interface Rule {
  name: string;
  type: string;
  query: string;
  state: string;
  health: string;
}

describeWithProgram('prometheus', 'a Prometheus with the config of the docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-prometheus-'));
  let receivers: Awaited<ReturnType<typeof observedReceivers>>;
  let prometheus: PrometheusServer;

  const rules = async () => {
    const { groups } = (await prometheus.api('rules')) as { groups: { rules: Rule[] }[] };
    return groups.flatMap((group) => group.rules);
  };
  const alert = async (name: string) => {
    const found = (await rules()).find((rule) => rule.name === name);
    if (!found) throw new Error(`There is no rule ${name}.`);
    return found;
  };
  const isActive = async (name: string) => (await alert(name)).state !== 'inactive';

  beforeAll(async () => {
    receivers = await observedReceivers();
    const config = read('prometheus.yml')
      .replace('localhost:9464', receivers.target)
      .replaceAll('interval: 15s', 'interval: 1s');
    writeFileSync(join(folder, 'prometheus.yml'), config);
    writeFileSync(join(folder, 'alerts.yml'), read('alerts.yml'));
    prometheus = await startPrometheus(join(folder, 'prometheus.yml'));
  });
  afterAll(async () => {
    await prometheus.stop();
    await receivers.close();
    rmSync(folder, { recursive: true });
  });

  it('sees that no delivery comes, from the first scrapes on', async () => {
    await waitFor(() => isActive('CallWebhooksNoDelivery'), { within: 20_000, every: 200 });
    for (const name of ['RuleAtRisk', 'AllDeliveriesFail', 'DeadLettersGrowing', 'Down'])
      expect(await isActive(`CallWebhooks${name}`)).toBe(false);
  });

  it('sees what real deliveries come to, in each expression of the dashboard', async () => {
    const empty = async () => {
      const found = expressions.map(async ([title, expr]) => {
        const values = await prometheus.query(expr);
        const hasData = values.length > 0 && values.every(({ value }) => Number.isFinite(value));
        return hasData ? [] : [title];
      });
      return (await Promise.all(found)).flat();
    };
    let without: string[] = [];
    const sendAndLook = async () => {
      await receivers.send();
      without = await empty();
      return without.length === 0;
    };
    // The status is asked for once a minute.
    await waitFor(sendAndLook, { within: 120_000, every: 500 }).catch((cause: unknown) => {
      throw new Error(`No data for ${without.join(', ')}`, { cause });
    });
    expect(expressions.length).toBeGreaterThanOrEqual(13);
  });

  it('raises the alerts', async () => {
    for (const name of ['RuleAtRisk', 'DeadLettersGrowing', 'LagRising'])
      await waitFor(() => isActive(`CallWebhooks${name}`), { within: 20_000, every: 200 });
    expect((await alert('CallWebhooksRuleAtRisk')).state).toBe('firing');
    for (const name of ['NoDelivery', 'AllDeliveriesFail', 'Down'])
      expect(await isActive(`CallWebhooks${name}`)).toBe(false);
    for (const { health } of await rules()) expect(health).toBe('ok');
  });

  it('shows values that are right', async () => {
    const [lag] = await prometheus.query(
      'call_webhooks:lag_seconds:avg5m{call_webhooks_source="webhook"}',
    );
    expect(lag?.value).toBeGreaterThanOrEqual(120);
    expect(lag?.value).toBeLessThan(180);
    const sum = async (metric: string) => (await prometheus.query(`sum(${metric})`))[0]?.value ?? 0;
    await waitFor(
      async () => {
        const dead = await sum('call_webhooks_dead_letters_total');
        return dead > 0 && dead === (await sum('call_webhooks_dead_letters_kept'));
      },
      { every: 200 },
    );
  });
});
