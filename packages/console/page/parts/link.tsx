import type { ComponentChildren } from 'preact';
import { changeUrl, readUrl } from '@call-webhooks/ui';
import { hrefOf, type View } from '../model/place.ts';

interface LinkProps {
  readonly to: View;
  /** Filters, by name. */
  readonly query?: Readonly<Record<string, string>>;
  readonly class?: string;
  readonly current?: boolean;
  readonly id?: string;
  readonly children: ComponentChildren;
}

/** A link to a view of this page. It can also be opened in a new tab. */
export const Link = ({ to, query, current, id, class: classes = 'link', children }: LinkProps) => (
  <a
    id={id}
    class={classes}
    href={hrefOf(to, query)}
    aria-current={current ? 'page' : undefined}
    onClick={(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(to, query);
    }}
  >
    {children}
  </a>
);

/** Shows a view. Filters of the one before go away. */
export function go(to: View, query: Readonly<Record<string, string>> = {}): void {
  const before = Object.fromEntries([...readUrl().keys()].map((name) => [name, undefined]));
  changeUrl({ ...before, view: to === 'now' ? undefined : to, ...query });
}
