import { readPage, type Page } from '../../src/paging.ts';
import { defaultWireNames, type WireNames } from '../../src/options.ts';

export const spec = {
  method: 'GET',
  url: new URL('https://api.example.com/v1/events?search=x'),
} as const;

/** Reads a response as a page of events. */
export function page(
  value: unknown,
  { wire = {}, link }: { wire?: Partial<WireNames>; link?: string } = {},
): Page<unknown> {
  const headers = new Headers(link === undefined ? {} : { link });
  return readPage(
    spec,
    { text: JSON.stringify(value), headers },
    { field: 'results' },
    { ...defaultWireNames, ...wire },
  );
}

export const results = [{ _id: '1' }];
