import { fill, h, part, write } from '../dom/element.ts';
import type { ChaosMode } from '@call-webhooks/simulator/control-api';
import { ask } from '../live/ask.ts';
import type { Store } from '../model/store.ts';
import { CHAOS } from '../model/words.ts';
import { actionButton, attempt } from '../parts/action-button.ts';

/** How often a mode strikes when its switch is turned on. */
const SWITCHED_ON = 0.25;
const ALL = 0.15;
const MODES = Object.keys(CHAOS) as ChaosMode[];

/** What goes wrong on purpose: a switch and a slider for each mode. */
export function chaosPanel(store: Store): void {
  const rows = MODES.map((mode) => chaosRow(mode));
  const buttons = h(
    'div',
    { class: 'buttons' },
    actionButton({ label: 'All at 15%', class: 'button small' }, () =>
      ask('PATCH', '/chaos', Object.fromEntries(MODES.map((mode) => [mode, ALL]))),
    ),
    actionButton({ label: 'All off', class: 'button small' }, () => ask('POST', '/chaos/clear')),
  );
  const about = h(
    'p',
    { class: 'hint' },
    'How often each strikes. It is drawn from the seed, so the same seed gives the same run; the last attempt of a delivery is left in peace.',
  );
  const seed = h('code', null);
  fill(
    part('panel-chaos'),
    about,
    h('p', { class: 'hint' }, 'Seed: ', seed),
    buttons,
    h(
      'ul',
      { class: 'chaos' },
      rows.map(({ element }) => element),
    ),
  );
  store.subscribe(() => {
    write(seed, store.seed);
    for (const { mode, show } of rows) show(store.chaos?.[mode] ?? 0);
  });
}

function chaosRow(mode: ChaosMode) {
  const [label, does] = CHAOS[mode];
  const set = (probability: number) =>
    void attempt(() => ask('PATCH', '/chaos', { [mode]: probability }));
  const power = h('input', { type: 'checkbox', role: 'switch', id: `chaos-${mode}` });
  const slider = h('input', {
    type: 'range',
    min: 5,
    max: 100,
    step: 5,
    'aria-label': `How often: ${label}`,
  });
  const output = h('output', { class: 'percent' });
  power.addEventListener('change', () => {
    set(power.checked ? SWITCHED_ON : 0);
  });
  slider.addEventListener('input', () => {
    write(output, `${slider.value}%`);
  });
  slider.addEventListener('change', () => {
    set(slider.valueAsNumber / 100);
  });
  const element = h(
    'li',
    { 'data-mode': mode },
    h('label', { class: 'toggle', for: `chaos-${mode}` }, power, h('span', null, label)),
    h('p', { class: 'hint' }, does),
    h('div', { class: 'slider' }, slider, output),
  );
  let last: number | undefined;
  const show = (probability: number) => {
    if (probability === last) return; // somebody may be sliding
    last = probability;
    power.checked = probability > 0;
    slider.value = String(Math.round(probability * 100));
    write(output, `${slider.value}%`);
    element.toggleAttribute('data-on', probability > 0);
  };
  return { mode, element, show };
}
