import { Dialog } from './dialog.tsx';
import type { ComponentChildren } from 'preact';

export interface Shortcut {
  readonly key: string;
  readonly does: string;
  run(): unknown;
}

const NAMES: Readonly<Record<string, string>> = { Escape: 'Esc' };

/**
 * Handles single keys, unless the user is typing or a dialog is open.
 * @param isOn whether keys of one letter or sign are on; Escape always works
 */
export function listenForShortcuts(shortcuts: readonly Shortcut[], isOn = () => true): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (
      target instanceof Element &&
      target.closest('input:not([type=checkbox], [type=range]), select, textarea, dialog')
    )
      return;
    if (document.querySelector('dialog[open]')) return;
    const found = shortcuts.find(({ key }) => key === event.key);
    if (!found || (event.key.length === 1 && !isOn())) return;
    event.preventDefault();
    found.run();
  });
}

interface ListProps {
  readonly shortcuts: readonly Shortcut[];
  readonly onClose: () => unknown;
  readonly children?: ComponentChildren;
}

/** The list of shortcuts. */
export const ShortcutsDialog = ({ shortcuts, onClose, children }: ListProps) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl class="shortcuts">
      {shortcuts.map(({ key, does }) => (
        <div key={key}>
          <dt>
            <kbd>{NAMES[key] ?? key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    {children}
    <form method="dialog" class="buttons">
      <button class="button primary">Close</button>
    </form>
  </Dialog>
);
