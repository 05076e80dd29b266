import { useSession } from '../model/session.ts';

/** Says why there are no buttons that change anything. */
export function ReadOnlyNote() {
  const { canWrite, readOnly } = useSession();
  if (canWrite) return null;
  return (
    <p class="read-only">
      <strong>Read-only.</strong>{' '}
      {readOnly
        ? 'This console was created with readOnly: nothing can be redriven, removed, revealed or reconciled here.'
        : 'You may look, but not redrive, remove, reveal or reconcile. Ask whoever runs this receiver if you need to.'}
    </p>
  );
}
