import { h } from '../dom/element.ts';
import { icon } from '../dom/icon.ts';
import type { DeliveryState } from '@call-webhooks/simulator/control-api';
import { STATES } from '../model/words.ts';

/** The state of a delivery: colour, picture and word say the same. */
export function stateBadge(state: DeliveryState): HTMLElement {
  const look = STATES.find((one) => one.state === state);
  return h(
    'span',
    { class: 'badge', 'data-state': state },
    look && icon(look.icon),
    look?.label ?? state,
  );
}
