import { useRef } from 'preact/hooks';
import { Button, changeUrl, usePoll, useUrl } from '@call-webhooks/ui';
import type { DeliveriesPage } from '../../src/api-types.ts';
import { get } from '../model/api.ts';
import { count, counted } from '../model/format.ts';
import { Empty, ErrorBox, Loading } from '../parts/section.tsx';
import { CallSection } from './call-section.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DeliveriesTable } from './deliveries-table.tsx';
import { Filters } from './filters.tsx';
import { FILTERS, queryOf } from './query.ts';

const EVERY_MS = 3_000;

/** The latest deliveries, with search and filters in the address of the page. */
export function DeliveriesView() {
  const url = useUrl();
  const query = queryOf(url);
  const { value, error } = usePoll(`deliveries ${JSON.stringify(query)}`, EVERY_MS, (signal) =>
    get<DeliveriesPage>('api/deliveries', query, signal),
  );
  // While a new search is read, the list before it stays instead of a flash of nothing.
  const last = useRef(value);
  if (value) last.current = value;
  const page = value ?? (error === undefined ? last.current : undefined);
  const call = url.get('call');
  return (
    <>
      <div class="view-head">
        <h2>Deliveries</h2>
        {page && (
          <p>
            The latest {counted(page.kept, 'delivery', 'deliveries')} of process {page.process}, at
            most {count(page.capacity)}. Those of other processes are not in this list.
          </p>
        )}
      </div>
      <Filters page={page} />
      <ErrorBox error={error} />
      {call !== null && <CallSection callId={call} tenant={url.get('tenant') ?? ''} />}
      {page ? <Listed page={page} /> : error === undefined && <Loading />}
    </>
  );
}

function Listed({ page }: { readonly page: DeliveriesPage }) {
  const url = useUrl();
  const selected = url.get('delivery') ?? undefined;
  const row = page.deliveries.find(({ id }) => id === selected);
  const isFiltered = FILTERS.some((name) => url.has(name));
  const shown = useRef(row);
  // A selected delivery stays in sight when newer ones push it off the page.
  if (row) shown.current = row;
  const detail = shown.current?.id === selected ? shown.current : undefined;
  return (
    <div class="with-detail" data-open={detail ? '' : undefined}>
      {detail && <DeliveryDetail key={detail.id} delivery={detail} />}
      {selected !== undefined && !detail && (
        <p class="read-only">
          This delivery is not in the list: it is too old, or another process has it.
        </p>
      )}
      <div class="listed">
        {page.deliveries.length > 0 ? (
          <DeliveriesTable page={page} selected={selected} />
        ) : (
          <NoDeliveries page={page} isFiltered={isFiltered} />
        )}
        <Pages page={page} />
      </div>
    </div>
  );
}

const NoDeliveries = (props: { readonly page: DeliveriesPage; readonly isFiltered: boolean }) =>
  props.isFiltered && props.page.kept > 0 ? (
    <Empty title="No delivery matches">
      <p>
        {counted(props.page.kept, 'delivery', 'deliveries')} of this process are kept. Change the
        filters, or search the logs for older ones.
      </p>
    </Empty>
  ) : (
    <Empty title="No delivery has come since this process started">
      <p>
        Each request to the receiver appears here as one delivery: with its outcome, what that means
        and what to do about it. The list is in memory and begins anew with each start.
      </p>
    </Empty>
  );

function Pages({ page }: { readonly page: DeliveriesPage }) {
  const isOlder = useUrl().has('before');
  const { cursor } = page;
  if (!isOlder && cursor === undefined) return null;
  return (
    <div class="pages">
      <span class="hint">
        {count(page.deliveries.length)} of {count(page.matching)} that match
      </span>
      {isOlder && (
        <Button
          label="Latest"
          small
          onClick={() => {
            changeUrl({ before: undefined, delivery: undefined });
          }}
        />
      )}
      {cursor !== undefined && (
        <Button
          label="Older"
          small
          onClick={() => {
            changeUrl({ before: cursor, delivery: undefined });
          }}
        />
      )}
    </div>
  );
}
