import { Button, changeUrl, Field, Select, useUrl } from '@call-webhooks/ui';
import type { DeliveriesPage } from '../../src/api-types.ts';
import { filterBy } from '../model/place.ts';
import { useSession } from '../model/session.ts';
import { RESULTS, SOURCES } from '../model/words.ts';

/** The filters that are in the address of the page. */
export const FILTERS = ['text', 'result', 'outcome', 'event', 'source', 'tenant', 'call'] as const;

/** Search and filters. What is chosen stays a choice, also if nothing matches it any more. */
export function Filters({ page }: { readonly page: DeliveriesPage | undefined }) {
  const url = useUrl();
  const { outcomes } = useSession();
  const withChosen = (known: readonly string[] = [], name: string) =>
    [...new Set([...known, ...url.getAll(name)])].map((one) => [one, one] as const);
  const tenants = withChosen(page?.tenants, 'tenant');
  const choice = (
    label: string,
    name: (typeof FILTERS)[number],
    options: readonly (readonly [string, string])[],
  ) => (
    <Select
      label={label}
      value={url.get(name) ?? ''}
      options={[['', `Any ${label.toLowerCase()}`], ...options]}
      onChange={(chosen) => {
        filterBy({ [name]: chosen });
      }}
    />
  );
  return (
    <search class="filters">
      <Field
        label="Search"
        type="search"
        placeholder="Event, id, key, outcome, error"
        value={url.get('text') ?? ''}
        onInput={({ currentTarget }) => {
          filterBy({ text: currentTarget.value }, 'replace');
        }}
      />
      <Field
        key={`call ${url.get('call') ?? ''}`}
        label="Call id"
        placeholder="Shows its three events"
        defaultValue={url.get('call') ?? ''}
        onChange={({ currentTarget }) => {
          filterBy({ call: currentTarget.value.trim() });
        }}
      />
      {choice(
        'Result',
        'result',
        Object.entries(RESULTS).map(([result, [text]]) => [result, text]),
      )}
      {choice('Outcome', 'outcome', withChosen(Object.keys(outcomes), 'outcome'))}
      {choice('Event', 'event', withChosen(page?.eventNames, 'event'))}
      {choice(
        'Source',
        'source',
        Object.entries(SOURCES).map(([source, [name]]) => [source, name]),
      )}
      {tenants.length > 0 && choice('Tenant', 'tenant', tenants)}
      {FILTERS.some((name) => url.has(name)) && (
        <Button
          label="Clear"
          kind="ghost"
          onClick={() => {
            changeUrl({
              ...Object.fromEntries(FILTERS.map((name) => [name, undefined])),
              before: undefined,
              delivery: undefined,
            });
          }}
        />
      )}
    </search>
  );
}
