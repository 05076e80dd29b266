import { h } from '../dom/element.ts';
import { show } from './dialog.ts';

export interface Shortcut {
  readonly key: string;
  readonly does: string;
  run(): unknown;
}

/** Handles single keys, unless the user is typing or a dialog is open. */
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
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}

/** Opens the list of shortcuts. */
export function showShortcuts(shortcuts: readonly Shortcut[]): void {
  const close = h('button', { type: 'button', class: 'button primary' }, 'Close');
  const rows = shortcuts.map(({ key, does }) =>
    h('div', null, h('dt', null, h('kbd', null, NAMES[key] ?? key)), h('dd', null, does)),
  );
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'shortcuts-title' },
    h(
      'div',
      { class: 'dialog-body' },
      h('h2', { id: 'shortcuts-title' }, 'Keyboard shortcuts'),
      h('dl', { class: 'shortcuts' }, rows),
      h('div', { class: 'buttons' }, close),
    ),
  );
  close.addEventListener('click', () => {
    dialog.close();
  });
  show(dialog);
}

const NAMES: Readonly<Record<string, string>> = { Escape: 'Esc' };
