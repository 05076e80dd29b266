import { render, type ComponentChild, type ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from './api.ts';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  /** Whether something runs whose end the user should see: it stays open meanwhile. */
  readonly busy?: boolean;
  /** Called after it was closed, by a button, Escape or a click beside it. */
  readonly onClose: () => unknown;
  readonly children: ComponentChildren;
}

let dialogs = 0;

/** A modal dialog. It is open while it is rendered. The browser restores the focus. */
export function Dialog({ title, wide, busy, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Not `useId`: it counts anew in each `render`, so that two dialogs or pages would share an id.
  const [titleId] = useState(() => `dialog-${String(++dialogs)}`);
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : undefined}
      aria-labelledby={titleId}
      onClose={() => void onClose()}
      onCancel={(event) => {
        if (busy) event.preventDefault();
      }}
      // The press counts: a text selection may start inside and end beside the dialog.
      onMouseDown={(event) => {
        if (event.target !== event.currentTarget || busy) return;
        event.preventDefault(); // the focus goes back to what had it, not to what was pressed
        event.currentTarget.close();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** Closes the dialog that an element is in. */
const closeAround = (element: EventTarget | null): void => {
  if (element instanceof Element) element.closest('dialog')?.close();
};

/** A question to the user. */
export interface Question {
  readonly title: string;
  /** The label of the submit button. */
  readonly go: string;
  /** Whether the action removes something. */
  readonly danger?: boolean;
  readonly wide?: boolean;
  /** Fields with a `name`, or a text. */
  readonly content: ComponentChildren;
  /** Gets the form on submit. An error is shown inside, and the user can try again. */
  readonly run: (form: HTMLFormElement) => unknown;
}

/** A dialog with a form. Escape and Cancel close it. */
export function FormDialog(props: Question & { readonly onClose: () => unknown }) {
  const { title, go, danger = false, wide = false, content, run, onClose } = props;
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement) => {
    if (busy) return;
    setError('');
    setBusy(true);
    try {
      await run(form);
      closeAround(form);
    } catch (reason) {
      setError(messageOf(reason));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} wide={wide} busy={busy} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        {content}
        <p class="form-error" role="alert">
          {error}
        </p>
        <div class="buttons">
          <Button
            label="Cancel"
            disabled={busy}
            onClick={({ currentTarget }) => closeAround(currentTarget)}
          />
          <Button label={go} kind={danger ? 'danger' : 'primary'} submit busy={busy} />
        </div>
      </form>
    </Dialog>
  );
}

/** Opens a dialog that no component renders. @param make gets what removes it again */
export function openDialog(make: (remove: () => void) => ComponentChild): void {
  const place = document.createElement('div');
  document.body.append(place);
  const remove = () => {
    render(null, place);
    place.remove();
  };
  render(make(remove), place);
}

/** Opens a dialog with a form. */
export function openForm(question: Question): void {
  openDialog((remove) => <FormDialog {...question} onClose={remove} />);
}
