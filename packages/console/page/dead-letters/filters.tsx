import { Button, Field, Select, useUrl } from '@call-webhooks/ui';
import type { DeadLetterRow } from '../../src/api-types.ts';
import { EVENT_NAMES, REASONS } from '../model/words.ts';
import { FILTERS, filterBy } from './query.ts';

/** The filters of the list. A text filters when it is left or with Enter. */
export function Filters({ letters }: { readonly letters: readonly DeadLetterRow[] }) {
  const url = useUrl();
  const present = letters.flatMap(({ eventName }) => eventName ?? []);
  const names = new Set([...EVENT_NAMES, ...present, ...url.getAll('event')]);
  const hasTenants = letters.some(({ tenant }) => tenant !== undefined);
  const value = (name: string) => url.get(name) ?? '';
  return (
    <search class="filters">
      <Select
        label="Event"
        value={value('event')}
        options={[['', 'Any event'], ...[...names].map((name) => [name, name] as const)]}
        onChange={(event) => {
          filterBy({ event });
        }}
      />
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
          key={`tenant ${value('tenant')}`}
          label="Tenant"
          defaultValue={value('tenant')}
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
