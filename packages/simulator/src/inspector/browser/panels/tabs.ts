import { fill, h, part, setAttribute, write } from '../dom/element.ts';
import type { Store } from '../model/store.ts';

/** The parts of the page. `deliveries` is a tab only where the page is narrow. */
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

/** The tabs; the arrow keys go from one to the next. @returns shows a section */
export function tabs(store: Store): (section: Section) => void {
  const made = SECTIONS.map((section) => ({ section, ...tab(section) }));
  const list = part('tabs');
  fill(
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
      const { text, bad } = numbers[section];
      write(count, text);
      count.hidden = text === '';
      count.toggleAttribute('data-bad', bad === true);
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

function numbersOf(store: Store): Record<Section, { text: string; bad?: boolean }> {
  const paused = store.rules().filter(({ state }) => state === 'paused').length;
  const chaos = Object.values(store.chaos ?? {}).filter((probability) => probability > 0).length;
  const total = Object.values(store.counts.deliveries).reduce((sum, count) => sum + count, 0);
  const some = (count: number) => (count > 0 ? count.toLocaleString() : '');
  return {
    deliveries: { text: some(total) },
    rules:
      paused > 0
        ? { text: `${String(paused)} paused`, bad: true }
        : { text: some(store.rules().length) },
    calls: { text: some(store.counts.calls) },
    outbox: { text: some(store.counts.mails) },
    chaos: { text: chaos > 0 ? `${String(chaos)} on` : '', bad: chaos > 0 },
  };
}
