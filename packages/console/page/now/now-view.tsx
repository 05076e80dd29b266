import { useRef } from 'preact/hooks';
import { changeUrl, counted, Select, usePoll, useUrl } from '@call-webhooks/ui';
import type { Overview } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { useSession } from '../model/session.ts';
import { ErrorBox, Loading, NoLog, Section } from '../parts/section.tsx';
import { HealthSection } from './health.tsx';
import { Chart, OutcomesSection, SourcesSection, Tiles } from './numbers.tsx';
import { ProcessesSection } from './processes.tsx';
import { SecretsSection } from './secrets.tsx';
import { StatusSection } from './status-section.tsx';
import { TimesSection } from './times-section.tsx';
import { Versions } from './versions.tsx';

const EVERY_MS = 3_000;
/** That of the reader, in which the page shows all times. */
const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const HOUR_MS = 3_600_000;

/** What the receivers do now, and did in the last hour and day. */
export function NowView() {
  const url = useUrl();
  const range = url.get('range') === 'day' ? 'day' : 'hour';
  const tenant = url.get('tenant') ?? '';
  const { value, error } = usePoll(`overview ${tenant}`, EVERY_MS, (signal) =>
    get<Overview>('api/overview', { timeZone: ZONE, ...(tenant !== '' && { tenant }) }, signal),
  );
  // While another tenant is read, the status before it stays instead of a flash of nothing.
  const last = useRef(value);
  if (value) last.current = value;
  const shown = value ?? (error === undefined ? last.current : undefined);
  const tenants = shown?.status.tenants ?? [];
  return (
    <>
      <div class="view-head">
        <h2>Now</h2>
        {(tenants.length > 0 || tenant !== '') && (
          <Select
            label="Tenant"
            value={tenant}
            options={[
              ['', 'Any tenant'],
              ...[...new Set([...tenants, ...(tenant === '' ? [] : [tenant])])]
                .sort()
                .map((name) => [name, name] as const),
            ]}
            onChange={(name) => changeUrl({ tenant: name === '' ? undefined : name })}
          />
        )}
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
      {shown ? (
        <Shown overview={shown} range={range} tenant={tenant} />
      ) : (
        error === undefined && <Loading />
      )}
    </>
  );
}

interface ShownProps {
  readonly overview: Overview;
  readonly range: 'hour' | 'day';
  /** Whose status is shown; empty for all. */
  readonly tenant: string;
}

function Shown({ overview, range, tenant }: ShownProps) {
  const { log: hasLog } = useSession();
  const { health, log, status } = overview;
  if (!log)
    return (
      <>
        <StatusSection status={status} />
        <HealthSection health={health} />
        {hasLog ? (
          <p class="form-error" role="alert">
            The outcome log cannot be read at the moment. Check above whether the store is down.
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
        {tenant === ''
          ? 'The figures cover all processes that share the store.'
          : `The status is that of tenant ${tenant}. The figures below cover all tenants, and all processes that share the store.`}{' '}
        In the last hour, {counted(recent.length, 'process', 'processes')} wrote to the store.
        {log.rowsDropped > 0 &&
          ` ${counted(log.rowsDropped, 'outcome')} of the last 26 hours ${log.rowsDropped === 1 ? 'is' : 'are'} counted here but not listed, because more than 50 deliveries ended within a second.`}
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

/** What to do while no delivery has arrived. */
const FirstSteps = () => (
  <Section title="No deliveries yet">
    <ol class="steps">
      <li>In the service, set the URL of your rule's webhook action to the URL of the receiver.</li>
      <li>
        Test the receiver from your machine:{' '}
        <code>
          CALL_WEBHOOK_SECRET=whsec_… npx call-webhooks check --to https://your.app/hook
          --allow-external
        </code>
        . The deliveries that this command sends will appear here within seconds.
      </li>
      <li>Place a call. The service sends one delivery for each of its events.</li>
    </ol>
    <p class="hint">
      If nothing appears here after a call, no request has reached the receiver. Check the rule in
      the service, the URL and the proxy. Rejected requests are counted here as well, so they would
      be visible.
    </p>
  </Section>
);
