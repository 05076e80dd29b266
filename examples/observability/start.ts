// Receivers, the simulated service, and what can be seen of them. With --once it exits by itself.
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startSimulator } from '@call-webhooks/simulator';
import { startPrometheus } from './prometheus.ts';
import { startReceivers } from './receiver.ts';
import { startSdk } from './telemetry.ts';

const CALL_EVERY_MS = 15_000;
const { METRICS_PORT = '9464', PROMETHEUS_PORT = '9090' } = process.env;
const { values } = parseArgs({ options: { once: { type: 'boolean' } } });

const sdk = await startSdk(Number(METRICS_PORT)); // before the receivers
const simulator = await startSimulator({ clock: 'manual' });
const receivers = await startReceivers(() => simulator.secrets.all());
for (const path of ['hook', 'queued']) simulator.rules.forwardTo(`${receivers.url}/${path}`);

let mails = 0;

/** One call, and five tries of the service to deliver what failed. */
async function call(): Promise<void> {
  simulator.calls.place({ durationSeconds: 20, recorded: false });
  await simulator.clock.advance('22m');
  await receivers.settled();
  for (const { text } of simulator.outbox.list().slice(mails)) console.log(`\nemail  ${text}\n`);
  mails = simulator.outbox.list().length;
}

console.log('A call is placed. Its handler fails, so that there is something to see:\n');
await call();

const metricsUrl = `http://127.0.0.1:${METRICS_PORT}/metrics`;
const metrics = await (await fetch(metricsUrl)).text();
console.log(`\n${metricsUrl}, without the buckets of histograms:\n`);
for (const line of metrics.split('\n'))
  if (/^call_webhooks_(?!.*_bucket)/.test(line))
    console.log(line.replace(/,?otel_scope_name="[^"]*"/, ''));

let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
if (!values.once) {
  prometheus = await startPrometheus(Number(PROMETHEUS_PORT), `127.0.0.1:${METRICS_PORT}`);
  console.log(
    prometheus
      ? `\nPrometheus: http://127.0.0.1:${PROMETHEUS_PORT}/alerts`
      : '\nPrometheus is not installed. With it, the alert rules of docs/observability would run.',
  );
  console.log('Another call is placed every 15 s. Press Ctrl+C to stop.\n');
  const calls = setInterval(() => void call(), CALL_EVERY_MS);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(calls);
}
await simulator.close();
await receivers.close();
await prometheus?.close();
await sdk.close();
