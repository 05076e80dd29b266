import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** What a colour says. It never says it alone: a text or an icon stands beside it. */
export type Tone = 'good' | 'wait' | 'bad' | 'info' | 'odd' | 'pale' | 'muted';

interface BadgeProps {
  readonly tone: Tone;
  readonly icon?: IconName | undefined;
  readonly children: ComponentChildren;
}

/** A state, as colour, icon and text. */
export const Badge = ({ tone, icon, children }: BadgeProps) => (
  <span class="badge" data-tone={tone}>
    {icon && <Icon name={icon} />}
    {children}
  </span>
);

/** A short remark about a row. */
export const Tag = (props: { readonly title?: string; readonly children: ComponentChildren }) => (
  <span class="tag" title={props.title}>
    {props.children}
  </span>
);

interface OutcomeProps {
  /** The name of the outcome, `duplicate` for example. */
  readonly name: string;
  /** What it means. */
  readonly meaning?: string | undefined;
}

/** The outcome of a delivery, with its meaning as a tooltip. */
export const OutcomeBadge = ({ name, meaning }: OutcomeProps) => (
  <strong class="outcome" title={meaning}>
    {name}
  </strong>
);

interface ChipProps {
  readonly label: string;
  readonly count?: number;
  readonly pressed: boolean;
  readonly onClick: () => unknown;
  /** The value of `data-state`, which colours the count. */
  readonly state?: string | undefined;
  readonly hidden?: boolean;
}

/** A filter that is on or off, with the number of rows that it would show. */
export const Chip = ({ label, count, pressed, onClick, state, hidden }: ChipProps) => (
  <button
    type="button"
    class="chip"
    hidden={hidden}
    data-state={state}
    data-none={count === 0 ? '' : undefined}
    aria-pressed={pressed}
    onClick={() => void onClick()}
  >
    {label}{' '}
    {count !== undefined && (
      <span class="chip-count" data-count={state ?? 'all'}>
        {count.toLocaleString()}
      </span>
    )}
  </button>
);
