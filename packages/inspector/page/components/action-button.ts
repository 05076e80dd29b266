import { h, setAttribute, type Properties } from '../dom/element.ts';
import { icon, type IconName } from '../dom/icon.ts';
import { ApiError } from '../live/api.ts';
import { notify, notifyError } from './notices.ts';

interface Look {
  readonly label: string;
  readonly icon?: IconName;
  /** `button` by default. */
  readonly class?: string;
  /** A tooltip. */
  readonly title?: string;
  /** Shows only the icon; the label is for screen readers. */
  readonly iconOnly?: boolean;
}

/** A button that calls the simulator. It is busy meanwhile, and reports errors. */
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

/** Runs something for a button, which keeps its focus and ignores clicks until it is done. */
export async function whileBusy(button: Element, run: () => Promise<unknown>): Promise<void> {
  if (button.getAttribute('aria-busy') === 'true') return;
  setAttribute(button, 'aria-busy', 'true');
  await attempt(run);
  button.removeAttribute('aria-busy');
}

/** Runs something and reports an error. */
export async function attempt(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    notifyError(messageOf(error));
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : `The page failed: ${String(error)}`;

/** A button that copies a text. @param what names it in the message, `Secret` for example */
export const copyButton = (what: string, text: () => Promise<string> | string): HTMLButtonElement =>
  actionButton(
    { label: `Copy ${what.toLowerCase()}`, icon: 'copy', class: 'ghost small', iconOnly: true },
    async () => {
      await navigator.clipboard.writeText(await text());
      notify(`${what} copied.`);
    },
  );
