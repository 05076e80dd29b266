import { Button, Field, Select, useUrl } from '@call-webhooks/ui';
import type { DeadLetterSelection, DeadLettersPage } from '../../src/api-types.ts';
import { filterBy, filtersIn, timeIn, toLocal, toUtc } from '../model/place.ts';
import { REASONS } from '../model/words.ts';

/** The filters that are in the address of the page. `since` and `until` are in UTC there. */
const FILTERS = ['text', 'cause', 'event', 'reason', 'tenant', 'since', 'until'] as const;

/** Which letters the address of the page asks for. */
export function selectionIn(url: URLSearchParams): DeadLetterSelection {
  const { since, until, ...rest } = filtersIn(url, FILTERS);
  const [from, to] = [timeIn(since), timeIn(until)];
  return {
    ...rest,
    ...(from !== undefined && { since: from }),
    ...(to !== undefined && { until: to }),
  };
}

/** The filters of the list. */
export function Filters({ page }: { readonly page: DeadLettersPage | undefined }) {
  const url = useUrl();
  const value = (name: string) => url.get(name) ?? '';
  const choices = (known: readonly string[] = [], name: string) =>
    [...new Set([...known, ...url.getAll(name)])].map((one) => [one, one] as const);
  const tenants = choices(page?.tenants, 'tenant');
  const time = (label: string, name: 'since' | 'until') => (
    <Field
      label={label}
      type="datetime-local"
      value={toLocal(value(name))}
      onChange={({ currentTarget }) => {
        filterBy({ [name]: toUtc(currentTarget.value) });
      }}
    />
  );
  return (
    <search class="filters">
      <Field
        label="Search"
        type="search"
        placeholder="Call, key, text of the error"
        value={value('text')}
        onInput={({ currentTarget }) => {
          filterBy({ text: currentTarget.value }, 'replace');
        }}
      />
      <Select
        label="Event"
        value={value('event')}
        options={[['', 'Any event'], ...choices(page?.eventNames, 'event')]}
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
      {tenants.length > 0 && (
        <Select
          label="Tenant"
          value={value('tenant')}
          options={[['', 'Any tenant'], ...tenants]}
          onChange={(tenant) => {
            filterBy({ tenant });
          }}
        />
      )}
      {time('Failed from', 'since')}
      {time('Failed before', 'until')}
      {FILTERS.some((name) => url.has(name)) && (
        <Button
          label="Clear"
          kind="ghost"
          onClick={() => {
            filterBy(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
          }}
        />
      )}
    </search>
  );
}
