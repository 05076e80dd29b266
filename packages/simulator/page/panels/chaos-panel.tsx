import { ActionButton, attempt, Switch } from '@call-webhooks/ui';
import type { ChaosMode } from '@call-webhooks/simulator/control-api';
import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../state/api.ts';
import { CHAOS } from '../state/labels.ts';
import { store } from '../state/store.ts';

/** The probability of a mode that is switched on. */
const SWITCHED_ON = 0.25;
const ALL = 0.15;
const MODES = Object.keys(CHAOS) as ChaosMode[];

/** A switch and a slider for each chaos mode. */
export const ChaosPanel = () => (
  <>
    <h2 class="visually-hidden">Chaos</h2>
    <p class="hint">
      Each fault has a probability. The same seed gives the same faults. The last attempt of an
      event gets only slow bodies and replays, so that chaos never pauses a rule.
    </p>
    <p class="hint">
      Seed: <code>{store.state.seed}</code>
    </p>
    <div class="buttons">
      <ActionButton
        label="All at 15%"
        small
        run={() => callApi('PATCH', '/chaos', Object.fromEntries(MODES.map((mode) => [mode, ALL])))}
      />
      <ActionButton label="All off" small run={() => callApi('POST', '/chaos/clear')} />
    </div>
    <ul class="chaos">
      {MODES.map((mode) => (
        <ChaosRow key={mode} mode={mode} probability={store.state.chaos[mode]} />
      ))}
    </ul>
  </>
);

interface RowProps {
  readonly mode: ChaosMode;
  readonly probability: number;
}

function ChaosRow({ mode, probability }: RowProps) {
  const [label, does] = CHAOS[mode];
  const [percent, setPercent] = useState(0);
  // The slider may be moving: it follows the simulator only when that changes.
  useEffect(() => setPercent(Math.round(probability * 100)), [probability]);
  const [, redraw] = useState(0);
  const set = async (value: number) => {
    if (await attempt(() => callApi('PATCH', '/chaos', { [mode]: value }))) return;
    // The switch and the slider show again what the simulator has.
    setPercent(Math.round(store.state.chaos[mode] * 100));
    redraw((count) => count + 1);
  };
  return (
    <li data-mode={mode} data-on={probability > 0 ? '' : undefined}>
      <Switch
        label={label}
        checked={probability > 0}
        onChange={(on) => void set(on ? SWITCHED_ON : 0)}
      />
      <p class="hint">{does}</p>
      <div class="slider">
        <input
          type="range"
          min={5}
          max={100}
          step={5}
          aria-label={`Probability: ${label}`}
          value={percent}
          onInput={({ currentTarget }) => setPercent(currentTarget.valueAsNumber)}
          onChange={({ currentTarget }) => void set(currentTarget.valueAsNumber / 100)}
        />
        <output class="percent">{`${String(percent)}%`}</output>
      </div>
    </li>
  );
}
