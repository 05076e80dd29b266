import { setChildren, h } from '../dom/element.ts';
import { messageOf } from './action-button.ts';

interface Question {
  readonly title: string;
  /** The label of the submit button. */
  readonly go: string;
  /** Whether the action removes something. */
  readonly danger?: boolean;
  readonly content: readonly Node[];
}

/**
 * Opens a modal dialog with a form. Escape and Cancel close it. An error is shown inside, and the user
 * can try again.
 * @param run gets the form on submit
 */
export function openDialog(
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
    setChildren(error);
    go.disabled = true;
    run(form)
      .then(() => {
        dialog.close();
      })
      .catch((reason: unknown) => {
        setChildren(error, messageOf(reason));
        go.disabled = false;
      });
  });
  cancel.addEventListener('click', () => {
    dialog.close();
  });
  show(dialog);
}

/** Opens a dialog, and removes it when it closes. The browser restores the focus. */
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
