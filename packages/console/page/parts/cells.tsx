import type { ComponentChildren } from 'preact';
import {
  addressWith,
  ago,
  Badge,
  changeUrl,
  readUrl,
  shortTime,
  Time,
  useTick,
  type IconName,
} from '@call-webhooks/ui';
import type { Result } from '../../src/api-types.ts';
import { hrefOf, type View } from '../model/place.ts';
import { useOutcome } from '../model/session.ts';
import { RESULTS } from '../model/words.ts';

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
      if (opensElsewhere(event)) return;
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

/** A new tab or window, or a download. */
const opensElsewhere = (event: MouseEvent): boolean =>
  event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;

interface RowLinkProps {
  readonly id: string;
  /** What the address of the page gets, by name. Its filters stay. */
  readonly opens: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

/** What opened the detail that is shown: a link in a list, or in a summary of it. */
export const opener = { id: '' };

/** Opens the detail of a row, and gets the focus back when the detail closes. */
export const RowLink = ({ id, opens, children }: RowLinkProps) => (
  <a
    id={id}
    class="link"
    href={addressWith(opens)}
    onClick={(event) => {
      if (opensElsewhere(event)) return;
      event.preventDefault();
      opener.id = id;
      changeUrl(opens);
    }}
  >
    {children}
  </a>
);

interface CallLinkProps {
  readonly callId?: string | undefined;
  readonly tenant?: string | undefined;
  /** The id of the call by default. */
  readonly children?: ComponentChildren;
}

/** A link to the view of a call. */
export const CallLink = ({ callId, tenant, children }: CallLinkProps) =>
  callId === undefined ? (
    <span class="hint">–</span>
  ) : (
    <Link to="deliveries" query={{ call: callId, ...(tenant !== undefined && { tenant }) }}>
      {children ?? (
        <code class="id" title={callId}>
          {callId}
        </code>
      )}
    </Link>
  );

/** What stands in a cell without a value. */
export const None = ({ children = '–' }: { readonly children?: string }) => (
  <span class="hint">{children}</span>
);

interface WhenProps {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A time of today, with the day for others. */
export const When = ({ at }: WhenProps) => <Time at={at}>{shortTime(at)}</Time>;

/** `4 min ago`, and it stays true. */
export function Ago({ at }: WhenProps) {
  useTick();
  return <Time at={at}>{ago(at)}</Time>;
}

/** The meaning of an outcome, and what to do about it. */
export function OutcomeWords({ code }: { readonly code: string }) {
  const row = useOutcome(code);
  if (!row) return <>This outcome was written by a newer version of the package.</>;
  return (
    <>
      {row.when} <span class="fix">{row.fix}</span>
    </>
  );
}

const ICONS: Partial<Record<Result, IconName>> = {
  handled: 'check',
  failed: 'cross',
  rejected: 'minus',
};

interface ResultBadgeProps {
  readonly result: Result;
  /** The word for the result by default. */
  readonly children?: ComponentChildren;
}

/** What a delivery came to, in color and words. */
export const ResultBadge = ({ result, children }: ResultBadgeProps) => {
  const [text, tone] = RESULTS[result];
  return (
    <Badge tone={tone} icon={ICONS[result]}>
      {children ?? text}
    </Badge>
  );
};
