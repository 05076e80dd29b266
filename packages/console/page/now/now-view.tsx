import { changeUrl, counted, Select, usePoll, useUrl } from '@call-webhooks/ui';
import type { Overview } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { useSession } from '../model/session.ts';
import { ErrorBox, Loading, NoLog, Section } from '../parts/section.tsx';
import { HealthSection } from './health.tsx';
import { Chart, OutcomesSection, SourcesSection, Tiles } from './numbers.tsx';
import { ProcessesSection, SecretsSection } from './processes.tsx';
import { StatusSection } from './status-section.tsx';
import { TimesSection } from './times-section.tsx';
import { Versions } from './versions.tsx';

const EVERY_MS = 3_000;
const HOUR_MS = 3_600_000;

/** What the receivers do now, and did in the last hour and day. */
export function NowView() {
  const range = useUrl().get('range') === 'day' ? 'day' : 'hour';
  const { value, error } = usePoll('overview', EVERY_MS, (signal) =>
    get<Overview>('api/overview', {}, signal),
  );
  return (
    <>
      <div class="view-head">
        <h2>Now</h2>
        <Select
          label="Period"
          value={range}
          options={[
            ['hour', 'Last hour'],
            ['day', 'Last 26 hours'],
          ]}
          onChange={(next) => changeUrl({ range: next === 'hour' ? undefined : next })}
        />
      </div>
      <ErrorBox error={error} />
      {value ? <Shown overview={value} range={range} /> : error === undefined && <Loading />}
    </>
  );
}

function Shown({ overview, range }: { overview: Overview; range: 'hour' | 'day' }) {
  const { log: hasLog } = useSession();
  const { health, log, status } = overview;
  if (!log)
    return (
      <>
        <StatusSection status={status} />
        <HealthSection health={health} />
        {hasLog ? (
          <p class="form-error" role="alert">
            The log of outcomes cannot be read now. The health above says whether the store is down.
          </p>
        ) : (
          <NoLog />
        )}
      </>
    );
  const period = log[range];
  const recent = log.processes.filter(({ seenAt }) => overview.now - seenAt < HOUR_MS);
  return (
    <>
      <StatusSection status={status} />
      <p class="hint">
        The figures are of all processes that share the store. In the last hour,{' '}
        {counted(recent.length, 'process', 'processes')} wrote to it.
        {log.rowsDropped > 0 &&
          ` ${counted(log.rowsDropped, 'outcome')} of the last 26 hours are counted here, but not listed: more than 50 ended in a second.`}
      </p>
      <HealthSection health={health} />
      {Object.keys(log.day.sources).length === 0 && <FirstSteps />}
      <Tiles period={period} range={range} />
      <Chart period={period} range={range} versions={log.versions} />
      <Versions versions={log.versions} />
      {hasLog && <TimesSection range={range} versions={log.versions} />}
      <SourcesSection period={period} range={range} />
      <OutcomesSection period={period} range={range} />
      <SecretsSection secrets={log.secrets} />
      <ProcessesSection processes={log.processes} />
    </>
  );
}

/** What to do while no delivery has come. */
const FirstSteps = () => (
  <Section title="No deliveries yet">
    <ol class="steps">
      <li>Point the webhook action of your rule to the URL where the receiver is mounted.</li>
      <li>
        Check it from your machine:{' '}
        <code>
          CALL_WEBHOOK_SECRET=whsec_… npx call-webhooks check --to https://your.app/hook
          --allow-external
        </code>
        . The deliveries that it sends appear here within seconds.
      </li>
      <li>Place a call. Each of its events is one delivery.</li>
    </ol>
    <p class="hint">
      Nothing after a call? Then no request reached any process: look at the rule of the service,
      the URL and the proxy. Rejected requests would be counted here too.
    </p>
  </Section>
);
