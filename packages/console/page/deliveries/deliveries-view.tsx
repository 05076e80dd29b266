import { useRef } from 'preact/hooks';
import {
  Button,
  changeUrl,
  count,
  duration,
  Field,
  Table,
  usePoll,
  useUrl,
} from '@call-webhooks/ui';
import type { DeliveriesPage, DeliveryRow } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { filterBy, filtersIn } from '../model/place.ts';
import { useSession } from '../model/session.ts';
import { RESULTS, SOURCES } from '../model/words.ts';
import { CallLink, None, opener, ResultBadge, RowLink, When } from '../parts/cells.tsx';
import { Filters, named } from '../parts/filters.tsx';
import { useReveal } from '../parts/reveal.ts';
import { Empty, ErrorBox, Loading, NoLog } from '../parts/section.tsx';
import { CallSection } from './call-section.tsx';
import { DeliveryDetailView } from './delivery-detail.tsx';
import { FailuresSection } from './failures-section.tsx';

const EVERY_MS = 3_000;
/** The filters that are in the address of the page. */
const FILTERS = [
  ...(['text', 'result', 'outcome', 'event', 'source', 'tenant', 'call'] as const),
  ...(['cause', 'version', 'since', 'until'] as const),
];
/** A search may go through the whole log. */
const SEARCH_EVERY_MS = 10_000;

/** Deliveries of all processes, with search and filters in the address of the page. */
export function DeliveriesView() {
  const url = useUrl();
  const { log } = useSession();
  const call = url.get('call');
  return (
    <>
      <div class="view-head">
        <h2>Deliveries</h2>
        <p>
          Everything that finished in any process, including queued runs, redrives and reconcile
          runs.
        </p>
      </div>
      {call !== null && <CallSection callId={call} tenant={url.get('tenant') ?? ''} />}
      {log ? <Listed /> : <NoLog />}
    </>
  );
}

function Listed() {
  const url = useUrl();
  const query = filtersIn(url, [...FILTERS, 'before']);
  const everyMs = Object.keys(query).length > 0 ? SEARCH_EVERY_MS : EVERY_MS;
  const { value, error } = usePoll(`deliveries ${JSON.stringify(query)}`, everyMs, (signal) =>
    get<DeliveriesPage>('api/deliveries', query, signal),
  );
  // While a new search is read, the list before it stays instead of a flash of nothing.
  const last = useRef(value);
  if (value) last.current = value;
  const page = value ?? (error === undefined ? last.current : undefined);
  const selected = url.get('delivery');
  const list = useReveal<HTMLHeadingElement>(url.get('cause'));
  return (
    <div class="with-detail" data-open={selected === null ? undefined : ''}>
      {selected !== null && <DeliveryDetailView id={selected} />}
      <div class="column">
        <FailuresSection />
        <DeliveryFilters page={page} />
        <ErrorBox error={error} />
        <div>
          <h3 tabIndex={-1} ref={list}>
            Newest first
          </h3>
          {page && <Reach keptSince={page.keptSince} />}
        </div>
        <div class="listed">
          {page && page.deliveries.length > 0 && <Deliveries page={page} selected={selected} />}
          {page?.deliveries.length === 0 && <NoDeliveries page={page} />}
          {page ? <Pages page={page} /> : error === undefined && <Loading />}
        </div>
      </div>
    </div>
  );
}

/** How far back the list reaches. */
const Reach = ({ keptSince }: { readonly keptSince: number | null }) => (
  <p class="hint">
    {keptSince !== null && (
      <>
        The log goes back to <When at={keptSince} />.{' '}
      </>
    )}
    The log keeps the deliveries of the last 50 hours: at most 10,000 failures and 20,000 others.
  </p>
);

function DeliveryFilters({ page }: { readonly page: DeliveriesPage | undefined }) {
  const call = useUrl().get('call') ?? '';
  const { outcomes } = useSession();
  return (
    <Filters
      searches="Event, id, key, outcome or error"
      names={FILTERS}
      choices={[
        ['Result', 'result', Object.entries(RESULTS).map(([result, [text]]) => [result, text])],
        ['Outcome', 'outcome', named(Object.keys(outcomes))],
        ['Event', 'event', named(page?.eventNames)],
        ['Source', 'source', Object.entries(SOURCES).map(([source, [name]]) => [source, name])],
        ['Tenant', 'tenant', named(page?.tenants)],
        ['Version', 'version', named(page?.versions)],
      ]}
    >
      <Field
        key={`call ${call}`}
        label="Call id"
        placeholder="Shows the call's three events"
        defaultValue={call}
        onChange={({ currentTarget }) => filterBy({ call: currentTarget.value.trim() })}
      />
      <TimeField label="From" name="since" />
      <TimeField label="To" name="until" />
    </Filters>
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly name: 'since' | 'until';
}

/** A time in the zone of the browser, which the address has in milliseconds since the epoch. */
function TimeField({ label, name }: TimeFieldProps) {
  const given = useUrl().get(name) ?? '';
  return (
    <Field
      key={`${name} ${given}`}
      label={label}
      type="datetime-local"
      step={60}
      defaultValue={given === '' ? '' : localMinute(Number(given))}
      onChange={({ currentTarget: { value } }) => {
        const at = new Date(value).getTime();
        filterBy({ [name]: Number.isNaN(at) ? undefined : String(at) });
      }}
    />
  );
}

/** `2026-01-31T12:05`, as the field has it. */
function localMinute(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

interface DeliveriesProps {
  readonly page: DeliveriesPage;
  readonly selected: string | null;
}

/** One row for each outcome. One webhook id may have several, such as queued and run. */
const Deliveries = ({ page, selected }: DeliveriesProps) => (
  <Table
    label="Deliveries"
    rows={page.deliveries}
    keyOf={keyOf}
    selected={page.deliveries.filter(({ id }) => id === selected).map(keyOf)[0]}
    onOpen={(row) => {
      opener.id = `delivery-${keyOf(row)}`;
      changeUrl({ delivery: row.id });
    }}
    columns={[
      { name: 'Time', cell: ({ at }) => <When at={at} /> },
      {
        name: 'Outcome',
        cell: (row) => (
          <>
            <ResultBadge result={row.result}>
              <RowLink id={`delivery-${keyOf(row)}`} opens={{ delivery: row.id }}>
                {row.outcome}
              </RowLink>
            </ResultBadge>
            {row.late && <span class="hint"> late</span>}
          </>
        ),
      },
      ...(page.deliveries.some(({ error }) => error !== undefined)
        ? [
            {
              name: 'Error',
              cell: ({ error }: DeliveryRow) =>
                error === undefined ? (
                  <None />
                ) : (
                  <span class="error-line">{error.replace(SAYS_SO, '')}</span>
                ),
            },
          ]
        : []),
      { name: 'Event', cell: ({ eventName }) => <EventName name={eventName} /> },
      ...(page.tenants.length > 0
        ? [{ name: 'Tenant', cell: ({ tenant }: DeliveryRow) => tenant ?? <None /> }]
        : []),
      { name: 'Call', cell: (row) => <CallLink {...row} /> },
      { name: 'Source', minor: true, cell: ({ source }) => SOURCES[source][2] },
      { name: 'Attempt', align: 'end', minor: true, cell: ({ attempt }) => attempt ?? <None /> },
      { name: 'Took', align: 'end', minor: true, cell: ({ durationMs }) => duration(durationMs) },
    ]}
  />
);

/** The outcome says it already. */
const SAYS_SO = /^The handler failed: /;

const keyOf = ({ id, at, source, outcome, process }: DeliveryRow) =>
  [id, at, source, outcome, process].join('_');

const EventName = ({ name }: { readonly name: string | undefined }) =>
  name === undefined ? <None>unknown</None> : <span class="event-name">{name}</span>;

/** How far a search went. */
const BackTo = ({ page: { searchedTo } }: { readonly page: DeliveriesPage }) =>
  searchedTo === null ? null : (
    <>
      , back to <When at={searchedTo} />
    </>
  );

function NoDeliveries({ page }: { readonly page: DeliveriesPage }) {
  const isFiltered = Object.keys(filtersIn(useUrl(), FILTERS)).length > 0;
  return isFiltered || page.before !== undefined ? (
    <Empty title="No delivery matches">
      <p>
        {count(page.searched)} searched
        <BackTo page={page} />.{' '}
        {page.before === undefined ? 'The log has no older deliveries.' : 'Choose Older to go on.'}
      </p>
    </Empty>
  ) : (
    <Empty title="No deliveries yet">
      <p>
        Each request to a receiver appears here within a second or two, with its outcome, what the
        outcome means, and what to do about it.
      </p>
    </Empty>
  );
}

function Pages({ page }: { readonly page: DeliveriesPage }) {
  const { before } = page;
  const isOlder = useUrl().has('before');
  if (!isOlder && before === undefined) return null;
  return (
    <div class="pages">
      <span class="hint">
        {count(page.searched)} searched
        <BackTo page={page} />
      </span>
      {isOlder && <Button label="Latest" small onClick={() => filterBy({})} />}
      {before !== undefined && <Button label="Older" small onClick={() => filterBy({ before })} />}
    </div>
  );
}
