import { h, part } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';

/** Milliseconds that a notice stays. Errors stay until they are closed, or pushed out. */
const STAYS = 5_000;
const MOST = 4;

/** Tells something that went well, politely. */
export function tell(message: string): void {
  const notice = show(part('notices'), message, 'notice');
  setTimeout(() => {
    notice.remove();
  }, STAYS);
}

/** Tells something that went wrong, or that nobody should miss. */
export function warn(message: string): void {
  show(part('alerts'), message, 'notice notice-bad');
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
