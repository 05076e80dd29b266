import { Button, Field, Select, useUrl } from '@call-webhooks/ui';
import { EVENT_NAMES, REASONS } from '../model/words.ts';
import { FILTERS, filterBy } from './query.ts';

/** The filters of the list. A text filters when it is left or with Enter. */
export function Filters({ hasTenants }: { readonly hasTenants: boolean }) {
  const url = useUrl();
  const value = (name: string) => url.get(name) ?? '';
  return (
    <search class="filters">
      <Field
        label="Event"
        list="event-names"
        placeholder="call:completed"
        value={value('event')}
        onChange={({ currentTarget }) => {
          filterBy({ event: currentTarget.value.trim() });
        }}
      />
      <datalist id="event-names">
        {EVENT_NAMES.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Select
        label="Reason"
        value={value('reason')}
        options={[['', 'Any reason'], ...Object.entries(REASONS)]}
        onChange={(reason) => {
          filterBy({ reason });
        }}
      />
      {(hasTenants || url.has('tenant')) && (
        <Field
          label="Tenant"
          value={value('tenant')}
          onChange={({ currentTarget }) => {
            filterBy({ tenant: currentTarget.value.trim() });
          }}
        />
      )}
      <Field
        label="Failed from"
        type="datetime-local"
        value={value('since')}
        onChange={({ currentTarget }) => {
          filterBy({ since: currentTarget.value });
        }}
      />
      <Field
        label="Failed before"
        type="datetime-local"
        value={value('until')}
        onChange={({ currentTarget }) => {
          filterBy({ until: currentTarget.value });
        }}
      />
      {FILTERS.some((name) => url.has(name)) && (
        <Button
          label="Clear"
          kind="ghost"
          onClick={() => {
            filterBy(Object.fromEntries(FILTERS.map((name) => [name, ''])));
          }}
        />
      )}
    </search>
  );
}
