import { Button, Field, Select, useUrl } from '@call-webhooks/ui';
import type { DeliveriesPage } from '../../src/api-types.ts';
import { useSession } from '../model/session.ts';
import { RESULTS, SOURCES } from '../model/words.ts';
import { FILTERS, filterBy } from './query.ts';

const ANY = '';

/** Search and filters. What is chosen stays a choice, also if nothing matches it any more. */
export function Filters({ page }: { readonly page: DeliveriesPage | undefined }) {
  const url = useUrl();
  const { outcomes } = useSession();
  const value = (name: string) => url.get(name) ?? ANY;
  const withChosen = (known: readonly string[] = [], name: string) =>
    [...new Set([...known, ...url.getAll(name)])].map((one) => [one, one] as const);
  const tenants = withChosen(page?.tenants, 'tenant');
  return (
    <search class="filters">
      <Field
        label="Search"
        type="search"
        placeholder="Event, id, outcome, error"
        value={value('text')}
        onInput={({ currentTarget }) => {
          filterBy({ text: currentTarget.value }, 'replace');
        }}
      />
      <Select
        label="Result"
        value={value('result')}
        options={[
          [ANY, 'Any result'],
          ...Object.entries(RESULTS).map(([result, [text]]) => [result, text] as const),
        ]}
        onChange={(result) => {
          filterBy({ result });
        }}
      />
      <Select
        label="Outcome"
        value={value('outcome')}
        options={[[ANY, 'Any outcome'], ...withChosen(Object.keys(outcomes), 'outcome')]}
        onChange={(outcome) => {
          filterBy({ outcome });
        }}
      />
      <Select
        label="Event"
        value={value('event')}
        options={[[ANY, 'Any event'], ...withChosen(page?.eventNames, 'event')]}
        onChange={(event) => {
          filterBy({ event });
        }}
      />
      <Select
        label="Source"
        value={value('source')}
        options={[
          [ANY, 'Any source'],
          ...Object.entries(SOURCES).map(([source, text]) => [source, `From ${text}`] as const),
        ]}
        onChange={(source) => {
          filterBy({ source });
        }}
      />
      {tenants.length > 0 && (
        <Select
          label="Tenant"
          value={value('tenant')}
          options={[[ANY, 'Any tenant'], ...tenants]}
          onChange={(tenant) => {
            filterBy({ tenant });
          }}
        />
      )}
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
