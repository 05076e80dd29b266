import { fill, h } from '../dom/element.ts';
import { messageOf } from './action-button.ts';

interface Question {
  readonly title: string;
  /** The label of the button that does it. */
  readonly go: string;
  /** Whether it destroys something. */
  readonly danger?: boolean;
  readonly content: readonly Node[];
}

/**
 * Asks something in a modal dialog. Escape and Cancel close it; an error is shown inside, and lets
 * the user try again.
 * @param run is given the form when the user goes on
 */
export function askUser(
  question: Question,
  run: (form: HTMLFormElement) => Promise<unknown>,
): void {
  const error = h('p', { class: 'form-error', role: 'alert' });
  const cancel = h('button', { type: 'button', class: 'button' }, 'Cancel');
  const classes = question.danger ? 'button danger' : 'button primary';
  const go = h('button', { type: 'submit', class: classes }, question.go);
  const form = h(
    'form',
    null,
    h('h2', { id: 'dialog-title' }, question.title),
    ...question.content,
    error,
    h('div', { class: 'buttons' }, cancel, go),
  );
  const dialog = h('dialog', { 'aria-labelledby': 'dialog-title' }, form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    fill(error);
    go.disabled = true;
    run(form)
      .then(() => {
        dialog.close();
      })
      .catch((reason: unknown) => {
        fill(error, messageOf(reason));
        go.disabled = false;
      });
  });
  cancel.addEventListener('click', () => {
    dialog.close();
  });
  show(dialog);
}

/** Opens a dialog, and forgets it when it closes: the browser gives the focus back. */
export function show(dialog: HTMLDialogElement): void {
  dialog.addEventListener('close', () => {
    dialog.remove();
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
