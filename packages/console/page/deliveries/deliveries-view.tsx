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
import { Empty, ErrorBox, Loading, NoLog } from '../parts/section.tsx';
import { CallSection } from './call-section.tsx';
import { DeliveryDetailView } from './delivery-detail.tsx';

const EVERY_MS = 3_000;
/** The filters that are in the address of the page. */
const FILTERS = ['text', 'result', 'outcome', 'event', 'source', 'tenant', 'call'] as const;
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
          What ended in any process, newest first, also runs of the queue, redrives and reconciles.
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
  return (
    <>
      <DeliveryFilters page={page} />
      <ErrorBox error={error} />
      <div class="with-detail" data-open={selected === null ? undefined : ''}>
        {selected !== null && <DeliveryDetailView id={selected} />}
        <div class="listed">
          {page && page.deliveries.length > 0 && <Deliveries page={page} selected={selected} />}
          {page?.deliveries.length === 0 && <NoDeliveries page={page} />}
          {page ? <Pages page={page} /> : error === undefined && <Loading />}
        </div>
      </div>
    </>
  );
}

function DeliveryFilters({ page }: { readonly page: DeliveriesPage | undefined }) {
  const call = useUrl().get('call') ?? '';
  const { outcomes } = useSession();
  return (
    <Filters
      searches="Event, id, key, outcome, error"
      names={FILTERS}
      choices={[
        ['Result', 'result', Object.entries(RESULTS).map(([result, [text]]) => [result, text])],
        ['Outcome', 'outcome', named(Object.keys(outcomes))],
        ['Event', 'event', named(page?.eventNames)],
        ['Source', 'source', Object.entries(SOURCES).map(([source, [name]]) => [source, name])],
        ['Tenant', 'tenant', named(page?.tenants)],
      ]}
    >
      <Field
        key={`call ${call}`}
        label="Call id"
        placeholder="Shows its three events"
        defaultValue={call}
        onChange={({ currentTarget }) => filterBy({ call: currentTarget.value.trim() })}
      />
    </Filters>
  );
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
      { name: 'Result', cell: ({ result }) => <ResultBadge result={result} /> },
      {
        name: 'Outcome',
        cell: (row) => (
          <>
            <RowLink id={`delivery-${keyOf(row)}`} opens={{ delivery: row.id }}>
              {row.outcome}
            </RowLink>
            {row.late && <span class="hint"> late</span>}
          </>
        ),
      },
      { name: 'Event', cell: ({ eventName }) => <EventName name={eventName} /> },
      ...(page.tenants.length > 0
        ? [{ name: 'Tenant', cell: ({ tenant }: DeliveryRow) => tenant ?? <None /> }]
        : []),
      { name: 'Call', cell: (row) => <CallLink {...row} /> },
      { name: 'From', minor: true, cell: ({ source }) => SOURCES[source][1] },
      { name: 'Attempt', align: 'end', minor: true, cell: ({ attempt }) => attempt ?? <None /> },
      { name: 'Took', align: 'end', minor: true, cell: ({ durationMs }) => duration(durationMs) },
    ]}
  />
);

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
        {count(page.searched)} were looked at
        <BackTo page={page} />.{' '}
        {page.before === undefined ? 'Older ones are not kept.' : 'Search the older ones.'}
      </p>
    </Empty>
  ) : (
    <Empty title="No deliveries yet">
      <p>
        Each request to a receiver appears here within a second or two: with its outcome, what that
        means and what to do about it.
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
        {count(page.searched)} looked at
        <BackTo page={page} />
      </span>
      {isOlder && <Button label="Latest" small onClick={() => filterBy({})} />}
      {before !== undefined && <Button label="Older" small onClick={() => filterBy({ before })} />}
    </div>
  );
}
