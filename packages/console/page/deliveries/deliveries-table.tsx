import { changeUrl, Table } from '@call-webhooks/ui';
import type { DeliveriesPage, DeliveryRow } from '../../src/api-types.ts';
import { duration } from '../model/format.ts';
import { Link, RowLink } from '../parts/link.tsx';
import { ResultBadge } from '../parts/outcome.tsx';
import { When } from '../parts/when.tsx';

interface TableProps {
  readonly page: DeliveriesPage;
  readonly selected: string | undefined;
}

/** One row for each delivery, newest first. */
export const DeliveriesTable = ({ page, selected }: TableProps) => (
  <Table
    label="Deliveries"
    rows={page.deliveries}
    keyOf={({ id }) => id}
    selected={selected}
    onOpen={({ id }) => {
      changeUrl({ delivery: id });
    }}
    columns={[
      { name: 'Time', cell: ({ at }) => <When at={at} /> },
      { name: 'Result', cell: (delivery) => <ResultBadge {...delivery} /> },
      { name: 'Outcome', cell: (delivery) => <Opener delivery={delivery} /> },
      {
        name: 'Event',
        cell: ({ eventName }) => (
          <span class="event-name">{eventName ?? <None>unknown</None>}</span>
        ),
      },
      ...(page.tenants.length > 0
        ? [{ name: 'Tenant', cell: ({ tenant }: DeliveryRow) => tenant ?? <None>none</None> }]
        : []),
      { name: 'Call', cell: ({ callId, tenant }) => <Call callId={callId} tenant={tenant} /> },
      { name: 'Attempt', align: 'end', cell: ({ attempt }) => attempt ?? <None>–</None> },
      { name: 'Took', align: 'end', cell: ({ durationMs }) => duration(durationMs) },
    ]}
  />
);

const None = ({ children }: { readonly children: string }) => <span class="hint">{children}</span>;

const Opener = ({ delivery: { id, outcome, late } }: { readonly delivery: DeliveryRow }) => (
  <>
    <RowLink id={`delivery-${id}`} opens={{ delivery: id }}>
      {outcome}
    </RowLink>
    {late && <span class="hint"> late</span>}
  </>
);

interface CallProps {
  readonly callId: string | undefined;
  readonly tenant: string | undefined;
}

/** A link to the timeline of a call. */
const Call = ({ callId, tenant }: CallProps) =>
  callId === undefined ? (
    <None>none</None>
  ) : (
    <Link to="deliveries" query={{ call: callId, ...(tenant !== undefined && { tenant }) }}>
      <code class="id">{callId}</code>
    </Link>
  );
