import {
  ActionButton,
  BarChart,
  Button,
  Icon,
  LineChart,
  timeOfDay,
  took,
} from '@call-webhooks/ui';
import type { DeliverySummary, Rule } from '@call-webhooks/simulator/control-api';
import { useEffect, useState } from 'preact/hooks';
import { ForwardForm, openCallDialog } from '../forms.tsx';
import { callName } from '../state/actions.ts';
import { callApi } from '../state/api.ts';
import { PAUSE_REASONS, shortUrl, urlsOf } from '../state/labels.ts';
import { store } from '../state/store.ts';
import { DeliveryRow } from './delivery-row.tsx';
import { Filters } from './filters.tsx';

interface DeliveriesProps {
  readonly onChoose: (id: string, byKeyboard: boolean) => void;
}

/** The paused rules, the filters and the deliveries; the first steps while there are none. */
export function Deliveries({ onChoose }: DeliveriesProps) {
  const { state, deliveries, outcomes, selected, older } = store;
  const [charted, setCharted] = useState(false);
  const some = Object.values(state.counts.deliveries).some((count) => count > 0);
  return (
    <section class="stream" id="panel-deliveries" aria-label="Deliveries">
      <h2 class="visually-hidden">Deliveries</h2>
      <PausedBanner />
      {some && <Filters />}
      {some && (
        <details
          class="chart-fold"
          onToggle={({ currentTarget }) => {
            setCharted(currentTarget.open);
          }}
        >
          <summary>Chart</summary>
          {charted && <Charts deliveries={deliveries} />}
        </details>
      )}
      {!some && <Welcome />}
      <div id="timeline" tabIndex={-1}>
        <ol class="rows timeline" aria-label="Deliveries, newest first" reversed>
          {deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery._id}
              delivery={delivery}
              selected={delivery._id === selected}
              callName={callName(delivery.callId, delivery.callName)}
              policy={state.policy}
              outcomes={outcomes}
              onChoose={onChoose}
            />
          ))}
        </ol>
        {deliveries.length === 0 && store.isFiltered && (
          <p class="none">No delivery matches these filters.</p>
        )}
        {older > 0 && (
          <p class="none">
            {`${older.toLocaleString()} older deliveries `}
            <Button label="Show more" small onClick={() => store.showMore()} />
          </p>
        )}
      </div>
      <Announcer />
    </section>
  );
}

/** A rule and where it sends to. */
const nameOf = ({ name, actions }: Rule): string =>
  [
    `“${name}”`,
    ...(actions.length > 0 ? ['to', urlsOf(actions).map(shortUrl).join(', ')] : []),
  ].join(' ');

/** The paused rules. Screen readers announce a rule that gets paused. */
function PausedBanner() {
  const paused = store.state.rules.filter(({ state }) => state === 'paused');
  const [first] = paused;
  const one = paused.length === 1 ? first : undefined;
  const then = store.state.policy.whilePaused === 'hold' ? 'held' : 'dropped';
  const text = one
    ? `${nameOf(one)} is paused: ${PAUSE_REASONS[one.pauseReason ?? 'by-hand']}. Its events are ${then} until you resume it.`
    : `${String(paused.length)} rules are paused.`;
  return (
    <div class="banner" id="paused" role="status" hidden={!first}>
      {first && (
        <>
          <Icon name="pause" />
          <p>{text}</p>
          <ActionButton
            label={one ? 'Resume' : 'Resume all'}
            icon="forward"
            small
            run={() =>
              Promise.all(paused.map(({ _id }) => callApi('POST', `/rules/${_id}/resume`)))
            }
          />
        </>
      )}
    </div>
  );
}

/** The first steps. */
function Welcome() {
  const ready = store.state.rules.length > 0;
  return (
    <div class="welcome" id="welcome">
      <h2>No deliveries yet</h2>
      <p class="lead">
        The simulator is a local copy of the calling service. Three steps to the first webhook:
      </p>
      <ol class="steps">
        <li data-done={ready ? '' : undefined}>
          <h3>Enter the URL of your receiver</h3>
          <p class="hint">
            It receives call:started, call:completed and call:recording-available, signed.
          </p>
          <ForwardForm primary={!ready} />
        </li>
        <li>
          <h3>Configure the signing secrets</h3>
          <p class="hint">
            Show or copy them in the list of rules. A receiver accepts several at once.
          </p>
        </li>
        <li>
          <h3>Place a call</h3>
          <p class="hint">Its deliveries appear here, with every attempt and response.</p>
          <Button
            label="Place a call"
            icon="phone"
            kind={ready ? 'primary' : 'normal'}
            onClick={openCallDialog}
          />
        </li>
      </ol>
    </div>
  );
}

/** Announces the counts to screen readers, a second after they changed. */
function Announcer() {
  const [told, tell] = useState('');
  const now = Object.entries(store.state.counts.deliveries)
    .map(([state, count]) => `${String(count)} ${state}`)
    .join(', ');
  useEffect(() => {
    const timer = setTimeout(() => {
      if (now !== '') tell(`Deliveries: ${now}.`);
    }, 1_000);
    return () => {
      clearTimeout(timer);
    };
  }, [now]);
  return (
    <p class="visually-hidden" id="announcer" role="status">
      {told}
    </p>
  );
}

/** How many bars and points a chart has at most. */
const PLACES = 30;

/** Outcomes and response times of the deliveries shown, over time. */
function Charts({ deliveries }: { readonly deliveries: readonly DeliverySummary[] }) {
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts)
    .filter(({ kind }) => kind === 'scheduled')
    .sort((one, other) => one.startedAt - other.startedAt);
  const [first, last] = [attempts.at(0), attempts.at(-1)];
  if (!first || !last) return <p class="none">Nothing has been sent yet.</p>;
  const width = Math.max(1_000, Math.ceil((last.startedAt - first.startedAt + 1) / PLACES));
  const count = Math.ceil((last.startedAt - first.startedAt + 1) / width);
  const groups = Array.from({ length: count }, (_, at) => {
    const from = first.startedAt + at * width;
    return attempts.filter(({ startedAt }) => startedAt >= from && startedAt < from + width);
  });
  const places = groups.map((_, at) => timeOfDay(first.startedAt + at * width));
  const countOf = (next: string) =>
    groups.map((group) => group.filter(({ result }) => result?.next === next).length);
  const times = groups.map((group) =>
    group.flatMap(({ tookMs }) => tookMs ?? []).sort((one, other) => one - other),
  );
  const percentile = (share: number) =>
    times.map((sorted) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]);
  return (
    <div class="charts">
      <BarChart
        label="Attempts by result"
        places={places}
        series={[
          { name: 'acknowledged', tone: 'good', values: countOf('acknowledged') },
          { name: 'to be retried', tone: 'wait', values: countOf('retry') },
          { name: 'paused the rule', tone: 'bad', values: countOf('paused') },
        ]}
      />
      <LineChart
        label="Response time"
        places={places}
        format={took}
        series={[
          { name: 'half of them (p50)', tone: 'info', values: percentile(0.5) },
          { name: '95 of 100 (p95)', tone: 'odd', values: percentile(0.95) },
        ]}
      />
    </div>
  );
}
