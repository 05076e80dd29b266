import { h, write } from '../dom/element.ts';
import type { Store } from '../model/store.ts';
import { moment, span, timeOfDay } from '../model/time.ts';

/** A time that is due, told as a span from now; it counts down. @param at milliseconds */
export const countdown = (at: number): HTMLElement =>
  h('time', { 'data-due': at, title: moment(at), datetime: new Date(at).toISOString() });

/** A time of day that stays as it is. */
export const clockTime = (at: number, classes = ''): HTMLElement =>
  h(
    'time',
    { class: classes, title: moment(at), datetime: new Date(at).toISOString() },
    timeOfDay(at),
  );

/** Keeps every countdown of the page right: as the clock flows, and as it is turned. */
export function keepTicking(store: Store): void {
  const tick = () => {
    const now = store.now();
    for (const element of document.querySelectorAll('[data-due]')) {
      const left = Number(element.getAttribute('data-due')) - now;
      write(element, left > 0 ? `in ${span(left)}` : 'now');
    }
  };
  store.subscribe(tick);
  setInterval(tick, 1_000);
}
