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
        const { opener: id } = latest.current;
        (document.getElementById(id) ?? document.getElementById('view'))?.focus({
          preventScroll: true,
        });
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
