import { useSession } from '../model/session.ts';

/** Says why there are no buttons that change anything. */
export function ReadOnlyNote() {
  const { canWrite, readOnly } = useSession();
  if (canWrite) return null;
  return (
    <p class="read-only">
      <strong>Read-only.</strong>{' '}
      {readOnly
        ? 'This console was created with readOnly: nothing can be redriven, removed or reconciled here, and personal data stays masked.'
        : 'You may look, but not redrive, remove, reconcile or show personal data. Ask whoever runs this receiver if you need to.'}
    </p>
  );
}
