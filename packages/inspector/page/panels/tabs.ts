import { setChildren, h, byId, setAttribute } from '../dom/element.ts';
import type { Store } from '../model/store.ts';

/** The sections of the page. `deliveries` is a tab only on narrow pages. */
export const SECTIONS = ['deliveries', 'rules', 'calls', 'outbox', 'chaos'] as const;
export type Section = (typeof SECTIONS)[number];

const NAMES: Readonly<Record<Section, string>> = {
  deliveries: 'Deliveries',
  rules: 'Rules',
  calls: 'Calls',
  outbox: 'Outbox',
  chaos: 'Chaos',
};
const NARROW = matchMedia('(max-width: 899px)');

/** The tabs. Arrow keys move between them. @returns a function that shows a section */
export function tabs(store: Store): (section: Section) => void {
  const made = SECTIONS.map((section) => ({ section, ...tab(section) }));
  const list = byId('tabs');
  setChildren(
    list,
    made.map(({ element }) => element),
  );
  let current: Section = 'deliveries';

  const show = (section: Section) => {
    current = section;
    const shown = !NARROW.matches && section === 'deliveries' ? 'rules' : section;
    document.body.dataset['section'] = shown;
    for (const { section: one, element } of made) {
      setAttribute(element, 'aria-selected', String(one === shown));
      setAttribute(element, 'tabindex', one === shown ? 0 : -1);
      if (one === shown) element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  };
  for (const { section, element } of made)
    element.addEventListener('click', () => {
      show(section);
    });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const visible = made.filter(({ element }) => element.offsetParent !== null);
    const at = visible.findIndex(({ element }) => element === document.activeElement);
    const next = visible[(at + step + visible.length) % visible.length];
    if (!next) return;
    show(next.section);
    next.element.focus();
  });
  NARROW.addEventListener('change', () => {
    show(current);
  });
  store.subscribe(() => {
    const numbers = numbersOf(store);
    for (const { section, count } of made) {
      const { number, suffix } = numbers[section];
      const text = `${String(number)} ${suffix ?? ''}`;
      if (count.textContent.trim() === text.trim()) continue;
      setChildren(
        count,
        number.toLocaleString(),
        suffix && h('span', { class: `tab-suffix suffix-${suffix}` }, ` ${suffix}`),
      );
      count.hidden = number === 0;
      count.toggleAttribute('data-bad', suffix !== undefined);
    }
  });
  show('deliveries');
  return show;
}

function tab(section: Section) {
  const count = h('span', { class: 'tab-count' });
  const element = h(
    'button',
    { type: 'button', role: 'tab', id: `tab-${section}`, 'aria-controls': `panel-${section}` },
    NAMES[section],
    ' ',
    count,
  );
  return { element, count };
}

function numbersOf(store: Store): Record<Section, { number: number; suffix?: string }> {
  const rules = store.rules();
  const paused = rules.filter(({ state }) => state === 'paused').length;
  const chaos = Object.values(store.chaos ?? {}).filter((probability) => probability > 0).length;
  const deliveries = Object.values(store.counts.deliveries).reduce((sum, count) => sum + count, 0);
  return {
    deliveries: { number: deliveries },
    rules: paused > 0 ? { number: paused, suffix: 'paused' } : { number: rules.length },
    calls: { number: store.counts.calls },
    outbox: { number: store.counts.mails },
    chaos: { number: chaos, suffix: 'on' },
  };
}
