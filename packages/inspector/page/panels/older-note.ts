import { h, write } from '../dom/element.ts';

/** Says how many there are besides those that are shown. */
export function olderNote(what: string): { element: HTMLElement; say(more: number): void } {
  const element = h('p', { class: 'none' });
  return {
    element,
    say(more) {
      element.hidden = more <= 0;
      write(element, `… and ${more.toLocaleString()} older ${what}`);
    },
  };
}
