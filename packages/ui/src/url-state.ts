import { useEffect, useState } from 'preact/hooks';

const listeners = new Set<() => void>();
addEventListener('popstate', () => {
  for (const listener of listeners) listener();
});

/** The query of the page's address. */
export const readUrl = (): URLSearchParams => new URLSearchParams(location.search);

/**
 * The address of the page with changes to its query, for a link.
 * @param changes by name; `undefined` or an empty text removes a name
 */
export function addressWith(changes: Readonly<Record<string, string | undefined>>): string {
  const query = readUrl();
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? location.pathname : `?${text}`;
}

/**
 * Changes the query of the page's address, so that reload, Back and bookmarks work.
 * @param changes as `addressWith` has them
 * @param how `replace` for changes that Back should skip, such as each letter of a search
 */
export function changeUrl(
  changes: Readonly<Record<string, string | undefined>>,
  how: 'push' | 'replace' = 'push',
): void {
  const address = addressWith(changes);
  if (address === addressWith({})) return;
  if (how === 'push') history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  for (const listener of listeners) listener();
}

/** Calls a listener after each change of the query, and after Back and Forward. @returns what stops it */
export function onUrlChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The query of the page's address. The component renders again when it changes. */
export function useUrl(): URLSearchParams {
  const [query, setQuery] = useState(readUrl);
  useEffect(() => onUrlChange(() => setQuery(readUrl())), []);
  return query;
}
