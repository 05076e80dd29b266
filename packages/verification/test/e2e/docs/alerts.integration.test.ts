import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import { findProgram } from '@call-webhooks/contract-tests/find-program';
import { quiet, scrapes, times, type Minute, type Series } from './scraped-receiver.ts';

const DOCS = fileURLToPath(new URL('../../../../../docs/observability/', import.meta.url));

describeWithProgram(
  { name: 'promtool', path: findProgram('promtool'), installedBy: 'prometheus' },
  'the alerts, with the series that the exporter wrote',
  () => {
    const ordinary: Minute = async (service) => {
      await service.deliver('call:started');
      await service.deliver('call:completed');
    };
    const failing: Minute = (service) => (service.handlers = 'fail');
    const succeeding: Minute = (service) => (service.handlers = 'succeed');

    const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-alerts-'));
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    /** Evaluates expressions with promtool, which compares them with what is expected. */
    async function evaluate(
      series: Series,
      tests: { expr: string; at: number; samples: { labels: string; value: number }[] }[],
    ): Promise<void> {
      const file = join(folder, `${crypto.randomUUID()}.yml`);
      const test = {
        interval: '1m',
        input_series: [...series].map(([name, values]) => ({
          series: name,
          values: values.join(' '),
        })),
        promql_expr_test: tests.map(({ expr, at, samples }) => ({
          expr,
          eval_time: `${String(at)}m`,
          exp_samples: samples,
        })),
      };
      const rules = { rule_files: [join(DOCS, 'alerts.yml')], evaluation_interval: '1m' };
      writeFileSync(file, JSON.stringify({ ...rules, tests: [test] }));
      await promisify(execFile)('promtool', ['test', 'rules', file]);
    }

    const firing = (alert: string, labels: Record<string, string>, at: number) => {
      const all = { alertname: alert, alertstate: 'firing', ...labels };
      const text = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
      const expr = `ALERTS{alertname="${alert}",alertstate="firing"}`;
      return { expr, at, samples: [{ labels: `ALERTS{${text.join(',')}}`, value: 1 }] };
    };
    const isSilent = (alert: string, at: number) => ({
      ...firing(alert, {}, at),
      samples: [],
    });

    it.each([
      ['check', 'config', 'prometheus.yml'],
      ['check', 'rules', 'alerts.yml'],
    ])('%s %s %s', async (command, what, file) => {
      const run = promisify(execFile);
      const { stdout } = await run('promtool', [command, what, file], { cwd: DOCS });
      expect(stdout).toContain('SUCCESS');
    });

    it('every delivery fails, as after a rotation of the secret', async () => {
      const series = await scrapes([
        ...times(20, (service) => service.deliver('call:started')),
        ...times(30, (service) => service.forge()),
      ]);
      await evaluate(series, [
        // The last acknowledged ones are less than ten minutes ago.
        isSilent('CallWebhooksAllDeliveriesFail', 27),
        firing('CallWebhooksAllDeliveriesFail', { severity: 'critical' }, 40),
      ]);
    });

    it('requests of scanners are no deliveries that fail, and no deliveries', async () => {
      const series = await scrapes([
        ...times(60, async (service) => {
          await service.deliver('call:started');
          await service.scan();
        }),
        ...times(180, (service) => service.scan()),
      ]);
      const panel = (text: string) =>
        readPanels().find((expr) => expr.includes(text) && expr.includes('[1h]')) as string;
      await evaluate(series, [
        isSilent('CallWebhooksAllDeliveriesFail', 239),
        isSilent('CallWebhooksNoDelivery', 180),
        firing('CallWebhooksNoDelivery', { severity: 'warning' }, 230),
        { expr: panel(') / sum('), at: 59, samples: [{ labels: '{}', value: 1 }] },
      ]);
    });

    it('dead letters grow, and what is redriven does not count again', async () => {
      const series = await scrapes(
        [
          ...times(5, quiet),
          failing,
          ...times(2, (service) => service.deliver('call:completed')),
          ...times(20, (service) => service.redrive('call:completed')),
        ],
        { deadLetter: () => undefined, maxAttempts: 1 },
      );
      await evaluate(series, [
        isSilent('CallWebhooksDeadLettersGrowing', 4),
        firing(
          'CallWebhooksDeadLettersGrowing',
          { call_webhooks_event: 'call:completed', severity: 'warning' },
          10,
        ),
        isSilent('CallWebhooksDeadLettersGrowing', 26),
      ]);
    });

    it('a rule is at risk, and the event is named, until the event succeeds', async () => {
      const attempt: Minute = (service) => service.deliver('call:completed', { callId: 'bad' });
      const series = await scrapes([
        ...times(10, ordinary),
        failing,
        ...[attempt, ...times(4, quiet)],
        ...[attempt, ...times(4, quiet)],
        ...[attempt, ...times(4, quiet)],
        succeeding,
        ...[attempt, ...times(4, quiet)],
      ]);
      const alert = 'CallWebhooksRuleAtRisk';
      await evaluate(series, [
        isSilent(alert, 12),
        firing(alert, { call_webhooks_event: 'call:completed', severity: 'critical' }, 22),
        isSilent(alert, 28),
      ]);
    });

    it('a rule is not at risk if events that fail become dead letters', async () => {
      const series = await scrapes(
        [
          ...times(10, ordinary),
          failing,
          ...times(20, (service) => service.deliver('call:completed')),
        ],
        { deadLetter: () => undefined, maxAttempts: 1 },
      );
      await evaluate(
        series,
        [15, 20, 30].map((at) => isSilent('CallWebhooksRuleAtRisk', at)),
      );
    });

    it('signatures are rejected after a rotation of one secret, while the other event arrives', async () => {
      const series = await scrapes([
        ...times(10, ordinary),
        ...times(10, async (service) => {
          await service.deliver('call:started');
          await service.forge();
        }),
      ]);
      const alert = 'CallWebhooksSignaturesRejected';
      await evaluate(series, [
        isSilent(alert, 10),
        ...[1].map(() => ({
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing",severity="critical"}) > bool 0`,
          at: 18,
          samples: [{ labels: '{}', value: 1 }],
        })),
      ]);
    });

    it('one forged request accuses nobody', async () => {
      const series = await scrapes([
        ...times(5, ordinary),
        (service) => service.forge(),
        ...times(20, quiet),
      ]);
      for (const at of [6, 12, 25])
        await evaluate(series, [isSilent('CallWebhooksSignaturesRejected', at)]);
    });

    it('an event is silent once its retry does not come', async () => {
      const series = await scrapes([
        ...times(10, ordinary),
        failing,
        (service) => service.deliver('call:completed'),
        ...times(20, (service) => service.deliver('call:started')),
      ]);
      const alert = 'CallWebhooksEventSilent';
      await evaluate(series, [
        isSilent(alert, 20),
        firing(
          alert,
          {
            call_webhooks_event: 'call:completed',
            call_webhooks_urgent: 'true',
            severity: 'critical',
          },
          30,
        ),
      ]);
    });

    it('an event was missed: it failed, and was not sent again, although others arrive', async () => {
      const series = await scrapes([
        ...times(5, ordinary),
        failing,
        (service) => service.deliver('call:completed'),
        succeeding,
        ...times(30, ordinary),
      ]);
      const alert = 'CallWebhooksEventsMissed';
      await evaluate(series, [
        isSilent(alert, 10),
        firing(alert, { call_webhooks_event: 'call:completed', severity: 'warning' }, 35),
      ]);
    });

    it('a queue is stuck once its worker runs nothing', async () => {
      const series = await scrapes(
        [
          ...times(5, async (service) => {
            await service.deliver('call:started');
            await service.work();
          }),
          ...times(30, (service) => service.deliver('call:started')),
        ],
        { hasQueue: true },
      );
      const alert = 'CallWebhooksQueueStuck';
      await evaluate(series, [isSilent(alert, 10), firing(alert, { severity: 'critical' }, 30)]);
    });

    it('the store is down', async () => {
      const series = await scrapes([
        ...times(5, ordinary),
        (service) => (service.isStoreDown = true),
        ...times(5, (service) => service.deliver('call:started')),
        (service) => (service.isStoreDown = false),
        ...times(3, ordinary),
      ]);
      const alert = 'CallWebhooksStoreDown';
      await evaluate(series, [
        isSilent(alert, 4),
        firing(alert, { severity: 'critical' }, 9),
        isSilent(alert, 14),
      ]);
    });

    it('a handler is slow', async () => {
      const series = await scrapes([
        ...times(5, ordinary),
        (service) => (service.handlers = 15_000),
        ...times(10, (service) => service.deliver('call:completed')),
      ]);
      const alert = 'CallWebhooksSlow';
      await evaluate(series, [
        isSilent(alert, 5),
        firing(alert, { call_webhooks_event: 'call:completed', severity: 'warning' }, 15),
      ]);
    });

    it('nobody knows, since status was not passed', async () => {
      const series = await scrapes(times(20, ordinary), { hasStatus: false });
      const alert = 'CallWebhooksStatusUnknown';
      await evaluate(series, [isSilent(alert, 5), firing(alert, { severity: 'warning' }, 15)]);
      const known = await scrapes(times(20, ordinary));
      await evaluate(known, [isSilent(alert, 5), isSilent(alert, 19)]);
    });

    it('the lag rises', async () => {
      const after =
        (lag: number): Minute =>
        (service) =>
          service.deliver('call:started', { lag });
      const series = await scrapes([...times(90, after(2)), ...times(30, after(120))]);
      await evaluate(series, [
        isSilent('CallWebhooksLagRising', 89),
        firing(
          'CallWebhooksLagRising',
          { call_webhooks_source: 'webhook', severity: 'warning' },
          110,
        ),
      ]);
    });

    it('a process is down', async () => {
      // Prometheus itself writes this series.
      const up = new Map([
        [
          'up{job="call-webhooks",instance="a"}',
          [...Array<string>(10).fill('1'), ...Array<string>(8).fill('0')],
        ],
      ]);
      const labels = { instance: 'a', job: 'call-webhooks', severity: 'critical' };
      await evaluate(up, [isSilent('CallWebhooksDown', 9), firing('CallWebhooksDown', labels, 15)]);
    });

    function readPanels(): string[] {
      const text = readFileSync(join(DOCS, 'grafana-dashboard.json'), 'utf8');
      const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
      expect(panels.length).toBeGreaterThan(10);
      return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    }
  },
);
