import { changeUrl, Select, usePoll, useUrl } from '@call-webhooks/ui';
import type { Overview, ProcessSummary } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { counted } from '../model/format.ts';
import { ErrorBox, Loading } from '../parts/section.tsx';
import { Charts } from './charts.tsx';
import { FirstSteps } from './first-steps.tsx';
import { HealthSection } from './health.tsx';
import { OutcomesSection } from './outcomes.tsx';
import { ProcessesSection } from './processes.tsx';
import { RestartNote } from './restart-note.tsx';
import { SecretsSection } from './secrets.tsx';
import { Tiles } from './tiles.tsx';

const EVERY_MS = 3_000;

/** What the receiver does now, and did in the last hour and day. */
export function NowView() {
  const url = useUrl();
  const chosen = url.get('process') ?? '';
  const range = url.get('range') === 'day' ? 'day' : 'hour';
  const { value, error } = usePoll(`overview ${chosen}`, EVERY_MS, (signal) =>
    get<Overview>('api/overview', { process: chosen }, signal),
  );
  return (
    <>
      <div class="view-head">
        <h2>Now</h2>
        <div class="buttons">
          {value && <Scope overview={value} chosen={chosen} />}
          <Select
            label="Period"
            value={range}
            options={[
              ['hour', 'Last hour'],
              ['day', 'Last day'],
            ]}
            onChange={(next) => {
              changeUrl({ range: next === 'hour' ? undefined : next });
            }}
          />
        </div>
        {value && <p>{scopeOf(value, chosen)}</p>}
      </div>
      <ErrorBox error={error} />
      {value ? <Shown overview={value} range={range} /> : error === undefined && <Loading />}
    </>
  );
}

function Shown({ overview, range }: { overview: Overview; range: 'hour' | 'day' }) {
  const { health, secrets, processes, process, scope, sharedError, day } = overview;
  const series = overview[range];
  return (
    <>
      {sharedError !== undefined && (
        <p class="form-error" role="alert">
          The statistics of other processes cannot be read: {sharedError}. The numbers are of this
          process alone until the store answers.
        </p>
      )}
      <RestartNote overview={overview} />
      <HealthSection health={health} />
      {day.summary.deliveries === 0 && <FirstSteps />}
      <Tiles overview={overview} series={series} range={range} />
      <Charts series={series} range={range} />
      <OutcomesSection summary={series.summary} range={range} />
      <div class="pair">
        <SecretsSection secrets={secrets} />
        <ProcessesSection processes={processes} answered={process} shared={scope === 'shared'} />
      </div>
    </>
  );
}

const nameOf = ({ host, pid }: ProcessSummary) => `${host}, process ${String(pid)}`;

/** Whose numbers they are, in words. */
function scopeOf({ scope, processes, process }: Overview, chosen: string): string {
  const one = processes.find(({ id }) => id === (chosen || process));
  const name = one ? nameOf(one) : process;
  if (scope === 'process')
    return `This process only: ${name}. No statistics are shared, so others that receive deliveries are not counted.`;
  if (chosen !== '') return `Only ${name}.`;
  return `The sum of ${counted(processes.length, 'process', 'processes')}.`;
}

/** Chooses between all processes and one. */
const Scope = ({ overview, chosen }: { overview: Overview; chosen: string }) => {
  const { scope, processes, process } = overview;
  if (scope === 'process' && chosen === '') return null;
  return (
    <Select
      label="Processes"
      value={chosen}
      options={[
        ['', 'All processes'],
        ...processes.map(
          (one) =>
            [one.id, one.id === process ? `${nameOf(one)} (answered)` : nameOf(one)] as const,
        ),
      ]}
      onChange={(next) => {
        changeUrl({ process: next });
      }}
    />
  );
};
