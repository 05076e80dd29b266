import { Chip, Icon, Select } from '@call-webhooks/ui';
import type { DeliveryState, EventName } from '@call-webhooks/simulator/control-api';
import type { Filter } from '../state/delivery-window.ts';
import { STATES } from '../state/labels.ts';
import { callName, filterBy, store } from '../state/page-state.ts';
import { shortUrl, urlsOf } from '../state/receiver.ts';

const EVENTS: readonly EventName[] = ['call:started', 'call:completed', 'call:recording-available'];
const ALL = Object.keys(STATES) as DeliveryState[];

const narrow = (by: Filter): void => {
  filterBy({ ...store.filter, ...by });
};

/** The filters. Each state shows its count. */
export function Filters() {
  const { filter, counts, policy } = store;
  const total = Object.values(counts.deliveries).reduce((sum, count) => sum + count, 0);
  // Paused rules either hold or drop their events, so one of the two states stays empty.
  const other = policy?.whilePaused === 'hold' ? 'dropped' : 'held';
  const known = urlsOf(store.rules().flatMap(({ actions }) => actions));
  const { url } = filter;
  const urls = url === undefined || known.includes(url) ? known : [...known, url];
  const name = nameOf(filter);
  return (
    <div class="filters" id="filters">
      <div class="chips" role="group" aria-label="State">
        <Chip
          label="All"
          count={total}
          pressed={filter.state === undefined}
          onClick={() => {
            narrow({ state: undefined });
          }}
        />
        {ALL.map((state) => (
          <Chip
            key={state}
            label={STATES[state].label}
            count={counts.deliveries[state] ?? 0}
            state={state}
            hidden={state === other && (counts.deliveries[state] ?? 0) === 0}
            pressed={filter.state === state}
            onClick={() => {
              narrow({ state: filter.state === state ? undefined : state });
            }}
          />
        ))}
      </div>
      <div class="chips">
        {name !== undefined && (
          <button
            type="button"
            class="chip of"
            title="Show all"
            onClick={() => {
              narrow({ ruleId: undefined, callId: undefined });
              document.getElementById('event-filter')?.focus();
            }}
          >
            {name}
            <Icon name="cross" />
          </button>
        )}
        <Select
          id="receiver-filter"
          label="Receiver"
          hidden={urls.length < 2 && url === undefined}
          value={url ?? ''}
          options={[['', 'All receivers'], ...urls.map((one) => [one, shortUrl(one)] as const)]}
          onChange={(value) => {
            narrow({ url: value === '' ? undefined : value });
          }}
        />
        <Select
          id="event-filter"
          label="Event"
          value={filter.eventName ?? ''}
          options={[['', 'All events'], ...EVENTS.map((one) => [one, one] as const)]}
          onChange={(value) => {
            narrow({ eventName: value === '' ? undefined : (value as EventName) });
          }}
        />
      </div>
    </div>
  );
}

function nameOf({ ruleId, callId }: Filter): string | undefined {
  if (ruleId !== undefined) return `Rule: ${store.rule(ruleId)?.name ?? ruleId}`;
  return callId === undefined ? undefined : `Call: ${callName(callId)}`;
}
