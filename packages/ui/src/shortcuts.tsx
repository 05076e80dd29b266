import { Dialog } from './dialog.tsx';
import { Switch } from './field.tsx';

export interface Shortcut {
  readonly key: string;
  readonly does: string;
  run(): unknown;
}

const NAMES: Readonly<Record<string, string>> = { Escape: 'Esc' };

const KEY = 'call-webhooks-shortcuts';
const isOn = (): boolean => localStorage.getItem(KEY) !== 'off';

/**
 * Handles single keys, unless the user is typing, a dialog is open, or the user switched them off.
 * Escape always works.
 */
export function listenForShortcuts(shortcuts: readonly Shortcut[]): void {
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
}

/** The list of shortcuts, and a switch for them. */
export const ShortcutsDialog = ({ shortcuts, onClose }: ListProps) => (
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
    <Switch
      label="Single-key shortcuts are on"
      defaultChecked={isOn()}
      onChange={(on) => localStorage.setItem(KEY, on ? 'on' : 'off')}
    />
    <form method="dialog" class="buttons">
      <button class="button primary">Close</button>
    </form>
  </Dialog>
);
