import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from '@jest/globals';
import { callBody, describeWithProgram, freePort } from '@call-webhooks/contract-tests';
import { findProgram } from '@call-webhooks/contract-tests/find-program';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { instrument } from '@call-webhooks/opentelemetry';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

const DOCS = fileURLToPath(new URL('../../../../../docs/observability/', import.meta.url));

/** What happens in one minute. */
type Minute = (service: Service) => unknown;

/** A receiver, and the service that sends to it. The clock is that of the receiver. */
interface Service {
  /** @returns the outcome */
  deliver(eventName: string, options?: { callId?: string; lag?: number }): Promise<string>;
  /** A delivery that was signed with another secret. */
  forge(): Promise<string>;
  /** A request of a scanner, without headers. */
  scan(): Promise<string>;
  redrive(eventName: string): Promise<string>;
}

/** A series of the exporter, with its value at each minute; `_` where it was not there. */
type Series = Map<string, string[]>;

/** Runs a receiver minute by minute, and scrapes the exporter of its metrics after each. */
async function scrapes(minutes: readonly Minute[], withDeadLetters: boolean): Promise<Series> {
  const port = await freePort();
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const telemetry = instrument({ meterProvider });
  const secret = generateSecret();
  let now = Date.now();
  const receiver = createReceiver({
    secret,
    now: () => now,
    on: {
      'call:started': () => undefined,
      'call:completed': () => Promise.reject(new Error('The CRM is down')),
    },
    logger: { warn: () => undefined, error: () => undefined },
    ...(withDeadLetters && { deadLetter: () => undefined, maxAttempts: 1 }),
  });
  let calls = 0;
  const post = async (headers: Record<string, string>, body: string) =>
    (await receiver.receive({ headers, body: Buffer.from(body) })).outcome.outcome;
  const service: Service = {
    async deliver(eventName, { callId = `call-${String(++calls)}`, lag = 0 } = {}) {
      const body = callBody(callId, eventName);
      const timestamp = Math.floor(now / 1_000) - lag;
      return post(await sign({ secret, body, timestamp }), body);
    },
    async forge() {
      const body = callBody(`call-${String(++calls)}`, 'call:started');
      const timestamp = Math.floor(now / 1_000);
      return post(await sign({ secret: generateSecret(), body, timestamp }), body);
    },
    scan: () => post({}, ''),
    redrive: async (eventName) => {
      const event = { eventName, callId: `call-${String(++calls)}` };
      return (await receiver.deliver(event)).outcome;
    },
  };

  const series: Series = new Map();
  for (const [at, minute] of minutes.entries()) {
    await minute(service);
    now += 60_000;
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
    for (const [, name = '', value = ''] of text.matchAll(
      /^(call_webhooks_\S+?(?:\{.*\})?) (\S+)/gm,
    )) {
      const values = series.get(name) ?? Array<string>(at).fill('_');
      series.set(name, [...values, value]);
    }
  }
  telemetry.close();
  await receiver.close();
  await meterProvider.shutdown();
  return series;
}

const times = (count: number, minute: Minute): Minute[] => Array<Minute>(count).fill(minute);
const quiet: Minute = () => undefined;

describeWithProgram(
  { name: 'promtool', path: findProgram('promtool'), installedBy: 'prometheus' },
  'the alerts, with the series that the exporter wrote',
  () => {
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

    it('every delivery fails, as after a rotation of the secret', async () => {
      const series = await scrapes(
        [
          ...times(20, (service) => service.deliver('call:started')),
          ...times(30, (service) => service.forge()),
        ],
        false,
      );
      await evaluate(series, [
        // The last acknowledged ones are less than ten minutes ago.
        isSilent('CallWebhooksAllDeliveriesFail', 27),
        firing('CallWebhooksAllDeliveriesFail', { severity: 'critical' }, 40),
      ]);
    });

    it('requests of scanners are no deliveries that fail, and no deliveries', async () => {
      const series = await scrapes(
        [
          ...times(60, async (service) => {
            await service.deliver('call:started');
            await service.scan();
          }),
          ...times(180, (service) => service.scan()),
        ],
        false,
      );
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
          ...times(2, (service) => service.deliver('call:completed')),
          ...times(20, (service) => service.redrive('call:completed')),
        ],
        true,
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

    it('the lag rises', async () => {
      const after =
        (lag: number): Minute =>
        (service) =>
          service.deliver('call:started', { lag });
      const series = await scrapes([...times(90, after(2)), ...times(30, after(120))], false);
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
