import { h, setAttribute, type Properties } from '../dom/element.ts';
import { icon, type IconName } from '../dom/icon.ts';
import { AskError } from '../live/ask.ts';
import { warn } from './notices.ts';

interface Look {
  readonly label: string;
  readonly icon?: IconName;
  /** `button` by default. */
  readonly class?: string;
  /** What it does, where the label does not say enough. */
  readonly title?: string;
  /** Its name for screen readers, where it shows only an icon. */
  readonly iconOnly?: boolean;
}

/** A button that asks the simulator for something: busy meanwhile, and an error is told. */
export function actionButton(look: Look, run: () => Promise<unknown>): HTMLButtonElement {
  const properties: Properties = {
    type: 'button',
    class: look.class ?? 'button',
    title: look.title ?? (look.iconOnly ? look.label : undefined),
    'aria-label': look.iconOnly ? look.label : undefined,
  };
  const button = h(
    'button',
    properties,
    look.icon && icon(look.icon),
    !look.iconOnly && h('span', null, look.label),
  );
  button.addEventListener('click', () => void whileBusy(button, run));
  return button;
}

/** Runs something for a button. It keeps its focus, and does nothing more until that is done. */
export async function whileBusy(button: Element, run: () => Promise<unknown>): Promise<void> {
  if (button.getAttribute('aria-busy') === 'true') return;
  setAttribute(button, 'aria-busy', 'true');
  await attempt(run);
  button.removeAttribute('aria-busy');
}

/** Runs something, and tells its error. */
export async function attempt(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    warn(messageOf(error));
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof AskError ? error.message : `The page failed: ${String(error)}`;
