import { useEffect, useRef } from 'preact/hooks';

/**
 * Brings what a click has made into view, and gives it the focus: it may stand above or below what is seen.
 * What can be seen already stays where it is.
 */
export function reveal(element: HTMLElement | null | undefined): void {
  if (!element) return;
  const { top, bottom } = element.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) element.scrollIntoView({ block: 'start' });
  element.focus({ preventScroll: true });
}

/** Reveals the element with an id, once it is there. */
export function revealById(id: string): void {
  requestAnimationFrame(() => reveal(document.getElementById(id)));
}

/**
 * Reveals an element when what it shows changes, not at first.
 * @param shown names what is shown; nothing is revealed while it is `null`
 * @returns the `ref` of the element, which needs a `tabIndex` of -1
 */
export function useReveal<Place extends HTMLElement>(shown: string | null) {
  const place = useRef<Place>(null);
  const before = useRef(shown);
  useEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    if (shown !== null) reveal(place.current);
  }, [shown]);
  return place;
}
