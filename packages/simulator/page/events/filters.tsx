import { ActionButton, Chip, Icon, Select } from '@call-webhooks/ui';
import type { WebhookEventState, EventName } from '@call-webhooks/simulator/control-api';
import { useEffect, useRef } from 'preact/hooks';
import type { Filter } from '../state/api.ts';
import { shortUrl, STATES, urlsOf } from '../state/labels.ts';
import { callName, filterBy, resendFailed, store } from '../state/store.ts';

const EVENTS: readonly EventName[] = ['call:started', 'call:completed', 'call:recording-available'];
const ALL = Object.keys(STATES) as WebhookEventState[];

/** Milliseconds after the last letter until the search starts. */
const TYPING = 200;

/** Changes some fields of the filter. */
const narrow = (by: Filter): void => {
  filterBy({ ...store.filter, ...by });
};

const orNone = (value: string): string | undefined => (value === '' ? undefined : value);

/** The filters. Each state shows how many events of it match the other filters. */
export function Filters() {
  const { filter } = store;
  const counts = store.state.matching;
  return (
    <div class="filters" id="filters">
      <div class="chips" role="group" aria-label="State">
        <Chip
          label="All"
          count={Object.values(counts).reduce((sum, count) => sum + count, 0)}
          pressed={filter.state === undefined}
          onClick={() => narrow({ state: undefined })}
        />
        {ALL.map((state) => (
          <Chip
            key={state}
            label={STATES[state].label}
            count={counts[state] ?? 0}
            state={state}
            hidden={isOfOtherPolicy(state)}
            pressed={filter.state === state}
            onClick={() => narrow({ state: filter.state === state ? undefined : state })}
          />
        ))}
        {(counts.failed ?? 0) > 0 && (
          <ActionButton
            label="Resend failed"
            title="Resend all failed events that match the filters, except those that were already resent"
            icon="again"
            kind="ghost"
            small
            run={resendFailed}
          />
        )}
      </div>
      <div class="chips">
        <Search />
        <OneRuleOrCall />
        <Receivers />
        <Select
          id="event-filter"
          label="Event name"
          value={filter.eventName ?? ''}
          options={[['', 'All events'], ...EVENTS.map((one) => [one, one] as const)]}
          onChange={(value) => narrow({ eventName: orNone(value) })}
        />
      </div>
    </div>
  );
}

/** Paused rules either hold or drop their events, so one of the two states stays empty. */
function isOfOtherPolicy(state: WebhookEventState): boolean {
  const other = store.state.policy.whilePaused === 'hold' ? 'dropped' : 'held';
  return state === other && (store.state.counts.events[state] ?? 0) === 0;
}

function Search() {
  const { q = '' } = store.filter;
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(q);
  // Back, Forward and Reset change the search too, and end one that was being typed.
  useEffect(() => {
    if (sent.current === q) return;
    clearTimeout(timer.current);
    sent.current = q;
    if (input.current) input.current.value = q;
  }, [q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={input}
      id="search"
      class="search"
      type="search"
      aria-label="Search the events"
      title="Search by name, number, id or text in a body (/)"
      placeholder="Name, #number, id, text"
      autocomplete="off"
      spellcheck={false}
      defaultValue={q}
      onInput={({ currentTarget }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
          sent.current = currentTarget.value.trim();
          narrow({ q: orNone(sent.current) });
        }, TYPING);
      }}
    />
  );
}

function OneRuleOrCall() {
  const { ruleId, callId } = store.filter;
  if (ruleId === undefined && callId === undefined) return null;
  const name =
    callId === undefined
      ? `Rule: ${store.rule(ruleId ?? '')?.name ?? 'removed'}`
      : `Call: ${callName(callId)}`;
  return (
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
  );
}

function Receivers() {
  const { url } = store.filter;
  const known = urlsOf(store.state.rules.flatMap(({ actions }) => actions));
  const urls = url === undefined || known.includes(url) ? known : [...known, url];
  return (
    <Select
      id="receiver-filter"
      label="Receiver"
      hidden={urls.length < 2 && url === undefined}
      value={url ?? ''}
      options={[['', 'All receivers'], ...urls.map((one) => [one, shortUrl(one)] as const)]}
      onChange={(value) => narrow({ url: orNone(value) })}
    />
  );
}
