import { setChildren, h, byId, setText } from '../dom/element.ts';
import type { ChaosMode } from '@call-webhooks/simulator/control-api';
import { callApi } from '../live/api.ts';
import type { Store } from '../model/store.ts';
import { CHAOS } from '../model/labels.ts';
import { actionButton, attempt } from '../components/action-button.ts';

/** The probability of a mode that is switched on. */
const SWITCHED_ON = 0.25;
const ALL = 0.15;
const MODES = Object.keys(CHAOS) as ChaosMode[];

/** A switch and a slider for each chaos mode. */
export function chaosPanel(store: Store): void {
  const rows = MODES.map((mode) => chaosRow(mode));
  const buttons = h(
    'div',
    { class: 'buttons' },
    actionButton({ label: 'All at 15%', class: 'button small' }, () =>
      callApi('PATCH', '/chaos', Object.fromEntries(MODES.map((mode) => [mode, ALL]))),
    ),
    actionButton({ label: 'All off', class: 'button small' }, () =>
      callApi('POST', '/chaos/clear'),
    ),
  );
  const about = h(
    'p',
    { class: 'hint' },
    'The probability of each fault. The same seed gives the same faults. The last attempt of a delivery gets only slow bodies and replays.',
  );
  const seed = h('code', null);
  setChildren(
    byId('panel-chaos'),
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
    setText(seed, store.seed);
    for (const { mode, show } of rows) show(store.chaos?.[mode] ?? 0);
  });
}

function chaosRow(mode: ChaosMode) {
  const [label, does] = CHAOS[mode];
  const set = (probability: number) =>
    void attempt(() => callApi('PATCH', '/chaos', { [mode]: probability }));
  const power = h('input', { type: 'checkbox', role: 'switch', id: `chaos-${mode}` });
  const slider = h('input', {
    type: 'range',
    min: 5,
    max: 100,
    step: 5,
    'aria-label': `Probability: ${label}`,
  });
  const output = h('output', { class: 'percent' });
  power.addEventListener('change', () => {
    set(power.checked ? SWITCHED_ON : 0);
  });
  slider.addEventListener('input', () => {
    setText(output, `${slider.value}%`);
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
    if (probability === last) return; // the slider may be moving
    last = probability;
    power.checked = probability > 0;
    slider.value = String(Math.round(probability * 100));
    setText(output, `${slider.value}%`);
    element.toggleAttribute('data-on', probability > 0);
  };
  return { mode, element, show };
}
