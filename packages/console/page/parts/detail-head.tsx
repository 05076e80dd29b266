import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '@call-webhooks/ui';

interface DetailHeadProps {
  readonly title: string;
  /** The id of what opened the detail, which gets the focus back. */
  readonly opener: string;
  readonly onClose: () => unknown;
  readonly children?: ComponentChildren;
}

/** Gets the focus when the opener is gone. */
const view = () => document.getElementById('view');

/** The head of a detail: it takes the focus when it opens; Escape closes it. */
export function DetailHead({ title, opener, onClose, children }: DetailHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const closing = useRef(onClose);
  closing.current = onClose;
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    heading.current?.scrollIntoView({ block: 'nearest' });
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      // Escape empties a search and closes a list of options.
      if (event.target instanceof Element && event.target.closest('input, select, dialog')) return;
      closing.current();
    };
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('keydown', close);
      requestAnimationFrame(() => (document.getElementById(opener) ?? view())?.focus());
    };
  }, [opener]);
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
