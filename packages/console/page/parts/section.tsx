import type { ComponentChildren, Ref } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { ApiError, Button, messageOf } from '@call-webhooks/ui';
import { opener as openedBy } from './cells.tsx';

interface SectionProps {
  readonly title: string;
  /** The id of the heading, for `revealById`. */
  readonly id?: string;
  /** The heading, for `useReveal`. */
  readonly heading?: Ref<HTMLHeadingElement>;
  /** Stands beside the title: a remark or buttons. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a view, with a heading. */
export function Section({ title, id: named, heading, beside, children }: SectionProps) {
  const own = useId();
  const id = named ?? own;
  return (
    <section class="section" aria-labelledby={id}>
      <div class="section-head">
        <h3 id={id} tabIndex={-1} ref={heading ?? null}>
          {title}
        </h3>
        {beside}
      </div>
      {children}
    </section>
  );
}

/** What is shown where there is nothing yet: why, and what to do. */
export const Empty = (props: { readonly title: string; readonly children: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{props.title}</p>
    {props.children}
  </div>
);

/** The banner tells of these. */
const TOLD = new Set(['unreachable', 'unauthorized']);

/** An error of the API, above what was read before. */
export const ErrorBox = ({ error }: { readonly error: unknown }) => (
  <p class="form-error" role="alert">
    {error === undefined || (error instanceof ApiError && TOLD.has(error.code))
      ? ''
      : messageOf(error)}
  </p>
);

/** Why a view needs a log, and how to get one. */
export const NoLog = () => (
  <Empty title="This receiver’s store keeps no outcome log">
    <p>
      Without a log, this page cannot show what other processes did. All stores except Durable
      Objects keep one, and so does <code>memoryStore()</code> for one process, unless the receiver
      was created with <code>log: false</code>. Health, dead letters and reconciling work without
      it.
    </p>
  </Empty>
);

/** Shown until the first answer. */
export const Loading = () => (
  <p class="none" role="status">
    Loading …
  </p>
);

interface DetailHeadProps {
  readonly title: string;
  /** Finds the link that opens the detail, which gets the focus back: its list may have been read later. */
  readonly opener: () => HTMLElement | null;
  readonly onClose: () => unknown;
  readonly children?: ComponentChildren;
}

/**
 * The head of a detail. It takes the focus when the detail opens, not when another row is chosen, and
 * gives it back when the detail closes. The page never scrolls for it. Escape closes it.
 */
export function DetailHead({ title, opener, onClose, children }: DetailHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const latest = useRef({ opener, onClose });
  latest.current = { opener, onClose };
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      // Escape empties a search and closes a list of options.
      if (event.target instanceof Element && event.target.closest('input, select, dialog')) return;
      latest.current.onClose();
    };
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('keydown', close);
      requestAnimationFrame(() => {
        // Something else may have taken it meanwhile, such as the row after one that was removed.
        if (document.activeElement && document.activeElement !== document.body) return;
        const byId = (id: string) => document.getElementById(id);
        const place = byId(openedBy.id) ?? latest.current.opener() ?? byId('view');
        place?.focus({ preventScroll: true });
      });
    };
  }, []);
  return (
    <div class="detail-head">
      <h3 tabIndex={-1} ref={heading}>
        {title}
      </h3>
      {children}
      <Button label="Close" icon="cross" iconOnly kind="ghost" onClick={onClose} />
    </div>
  );
}
