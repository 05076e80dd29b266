import { h, byId } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';

/** Milliseconds that a notice stays. Errors stay until they are closed or displaced. */
const STAYS = 5_000;
const MOST = 4;

/** Reports a success. */
export function notify(message: string): void {
  const notice = show(byId('notices'), message, 'notice');
  setTimeout(() => {
    notice.remove();
  }, STAYS);
}

/** Reports an error, or something that the user should not miss. */
export function notifyError(message: string): void {
  show(byId('alerts'), message, 'notice notice-bad');
}

function show(region: HTMLElement, message: string, classes: string): HTMLElement {
  const close = h(
    'button',
    { type: 'button', class: 'ghost small', 'aria-label': 'Close this message' },
    icon('cross'),
  );
  const notice = h('div', { class: classes }, h('p', null, message), close);
  close.addEventListener('click', () => {
    notice.remove();
  });
  for (const old of [...region.children]) if (old.textContent === notice.textContent) old.remove();
  region.append(notice);
  while (region.children.length > MOST) region.firstElementChild?.remove();
  return notice;
}
