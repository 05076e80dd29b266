import { useRef, useState } from 'preact/hooks';
import { messageOf } from './api.ts';
import { Icon, type IconName } from './icon.tsx';
import { notify, notifyError } from './notices.tsx';

export interface ButtonLook {
  readonly label: string;
  /** `normal` by default. */
  readonly kind?: 'normal' | 'primary' | 'danger' | 'ghost' | 'link';
  readonly icon?: IconName | undefined;
  /** Shows only the icon; the label is for screen readers. */
  readonly iconOnly?: boolean;
  readonly small?: boolean;
  /** A tooltip. */
  readonly title?: string | undefined;
  readonly id?: string;
  readonly disabled?: boolean;
  /** `true` or `false` for a button that stays pressed. */
  readonly pressed?: boolean | undefined;
}

const CLASSES = {
  normal: 'button',
  primary: 'button primary',
  danger: 'button danger',
  ghost: 'ghost',
  link: 'link',
} as const;

interface ButtonProps extends ButtonLook {
  readonly busy?: boolean;
  readonly submit?: boolean;
  readonly onClick?: (event: MouseEvent) => unknown;
}

/** A button. */
export const Button = (props: ButtonProps) => {
  const { label, kind = 'normal', icon, iconOnly = false, small, title, busy = false } = props;
  const size = iconOnly && kind !== 'ghost' ? ' square' : '';
  return (
    <button
      type={props.submit ? 'submit' : 'button'}
      id={props.id}
      class={`${CLASSES[kind]}${small ? ' small' : ''}${size}`}
      title={title ?? (iconOnly ? label : undefined)}
      aria-label={iconOnly ? label : undefined}
      aria-busy={busy ? 'true' : undefined}
      aria-pressed={props.pressed}
      disabled={props.disabled}
      onClick={(event) => void props.onClick?.(event)}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
    </button>
  );
};

/**
 * A button that runs something. It is busy meanwhile, keeps its focus, ignores further clicks, and
 * shows an error as a notice.
 */
export function ActionButton({ run, ...look }: ButtonLook & { readonly run: () => unknown }) {
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const click = async () => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    await attempt(run);
    running.current = false;
    setBusy(false);
  };
  return <Button {...look} busy={busy} onClick={click} />;
}

/** Runs something and shows an error as a notice. @returns whether it succeeded */
export async function attempt(run: () => unknown): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    notifyError(messageOf(error));
    return false;
  }
}

interface CopyProps {
  /** Names the text in the label and the notice, `Secret` for example. */
  readonly what: string;
  readonly text: () => Promise<string> | string;
  /** `copy` by default. */
  readonly icon?: IconName;
  /** A short label next to the icon. */
  readonly label?: string;
}

/** A button that copies a text. */
export const CopyButton = ({ what, text, icon = 'copy', label }: CopyProps) => (
  <ActionButton
    label={label ?? `Copy ${what.toLowerCase()}`}
    title={`Copy ${what.toLowerCase()}`}
    icon={icon}
    iconOnly={label === undefined}
    kind="ghost"
    small
    run={async () => {
      await navigator.clipboard.writeText(await text());
      notify(`${what} copied.`);
    }}
  />
);
