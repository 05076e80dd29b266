import { Button, Field, fieldValue, messageOf, notify, openForm, Switch } from '@call-webhooks/ui';
import { useState } from 'preact/hooks';
import { callApi } from './state/api.ts';
import { wholeUrl } from './state/labels.ts';
import { store } from './state/store.ts';

/** How many calls the form places at most. */
const MOST_CALLS = 200;

/** Asks for the details of a call and places it. */
export const openCallDialog = (): void =>
  openForm({
    title: 'Place a call',
    go: 'Place',
    run: placeCalls,
    content: (
      <>
        <p class="hint">
          The call starts now, and ends by itself after its duration, in the simulator’s time.
          Fields that you leave empty get invented values.
        </p>
        <Field label="Phone number" name="number" type="tel" placeholder="+1 555 0100" />
        <Field label="Name of the person" name="name" placeholder="Dana Reyes" />
        <div class="columns">
          <Field
            label="Duration in seconds"
            name="seconds"
            type="number"
            defaultValue="20"
            min={0}
            max={86_400}
            required
          />
          <Field
            label="Number of calls"
            name="count"
            type="number"
            defaultValue="1"
            min={1}
            max={MOST_CALLS}
            required
          />
        </div>
        <Switch label="Recorded" name="recorded" defaultChecked />
      </>
    ),
  });

async function placeCalls(form: HTMLFormElement): Promise<void> {
  const call = {
    calledNumber: fieldValue(form, 'number'),
    calledName: fieldValue(form, 'name'),
    durationSeconds: Number(fieldValue(form, 'seconds')),
    recorded: fieldValue(form, 'recorded') !== undefined,
  };
  const count = Number(fieldValue(form, 'count'));
  for (let placed = 0; placed < count; placed++) await callApi('POST', '/calls', call);
  notify(count === 1 ? 'Call placed.' : `${String(count)} calls placed.`);
}

/** Asks before it resets the simulator. */
export const openResetDialog = (): void =>
  openForm({
    title: 'Reset the simulator?',
    go: 'Reset',
    danger: true,
    content: <p>This removes all rules, secrets, calls, events, emails and messages.</p>,
    async run() {
      store.select(undefined); // before it is gone
      await callApi('POST', '/reset');
      store.setFilter({});
      notify('The simulator was reset.');
    },
  });

/** A form that sends all three events to one receiver. */
export function ForwardForm({ primary }: { readonly primary: boolean }) {
  const [error, setError] = useState('');
  const forward = async (form: HTMLFormElement) => {
    setError('');
    try {
      const url = wholeUrl(fieldValue(form, 'url'));
      await callApi('POST', '/forward', { url, secret: fieldValue(form, 'secret') });
      form.reset();
      notify('Forwarding all three events.');
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <form
      class="forward"
      onSubmit={(event) => {
        event.preventDefault();
        void forward(event.currentTarget);
      }}
    >
      <Field
        label="URL of your receiver"
        name="url"
        inputMode="url"
        required
        placeholder="http://127.0.0.1:3000/hook, or 3000/hook"
      />
      <details>
        <summary>Use your own signing secret</summary>
        <Field
          label="Signing secret"
          name="secret"
          placeholder="whsec_…"
          pattern="whsec_.+"
          hint="It signs all three events. If you leave it empty, each rule gets its own secret."
        />
      </details>
      <p class="form-error" role="alert">
        {error}
      </p>
      <div class="buttons">
        <Button label="Forward" kind={primary ? 'primary' : 'normal'} submit />
      </div>
    </form>
  );
}
