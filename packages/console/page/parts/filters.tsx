import type { ComponentChildren } from 'preact';
import { Button, Field, Select, useUrl } from '@call-webhooks/ui';
import { filterBy } from '../model/place.ts';

/** A filter of a list, as the address of the page names it, and what can be chosen. */
export type Choice = readonly [
  label: string,
  name: string,
  options: readonly (readonly [value: string, text: string])[],
];

/** Each is its own text. */
export const named = (names: readonly string[] = []) => names.map((one) => [one, one] as const);

interface FiltersProps {
  /** What the search looks in. */
  readonly searches: string;
  readonly choices: readonly Choice[];
  /** All names that "Clear" removes from the address. */
  readonly names: readonly string[];
  /** Stands after the search. */
  readonly children?: ComponentChildren;
}

const OPTIONAL: ReadonlySet<string> = new Set(['tenant', 'version']);

/** Search and filters. What is chosen stays a choice, also if nothing matches it any more. */
export function Filters({ searches, choices, names, children }: FiltersProps) {
  const url = useUrl();
  return (
    <search class="filters">
      <Field
        label="Search"
        type="search"
        placeholder={searches}
        value={url.get('text') ?? ''}
        onInput={({ currentTarget }) => filterBy({ text: currentTarget.value }, 'replace')}
      />
      {children}
      {choices.map(([label, name, options]) => {
        const value = url.get(name) ?? '';
        const isKnown = value === '' || options.some(([one]) => one === value);
        // Most receivers have no tenants, and many no version.
        if (OPTIONAL.has(name) && isKnown && options.length === 0) return null;
        return (
          <Select
            key={name}
            label={label}
            value={value}
            options={[
              ['', `Any ${label.toLowerCase()}`],
              ...options,
              ...(isKnown ? [] : [[value, value] as const]),
            ]}
            onChange={(chosen) => filterBy({ [name]: chosen })}
          />
        );
      })}
      {names.some((name) => url.has(name)) && (
        <Button
          label="Clear"
          kind="ghost"
          onClick={() => filterBy(Object.fromEntries(names.map((name) => [name, undefined])))}
        />
      )}
    </search>
  );
}
