import { ApiError, Field, fieldValue, notify, openForm, TextArea } from '@call-webhooks/ui';
import type { Action, Delivery, Rule } from '@call-webhooks/simulator/control-api';
import { callApi } from '../state/api.ts';
import { store } from '../state/page-state.ts';
import { wholeUrl } from '../state/receiver.ts';

/** Asks for a new name of a rule. */
export const renameRule = ({ _id, name }: Rule): void =>
  openForm({
    title: 'Rename the rule',
    go: 'Rename',
    content: <Field label="Name" name="name" defaultValue={name} required />,
    run: (form) => callApi('PATCH', `/rules/${_id}`, { name: fieldValue(form, 'name') }),
  });

/** Asks before it removes a rule. */
export const removeRule = ({ _id, name }: Rule): void =>
  openForm({
    title: 'Remove the rule?',
    go: 'Remove',
    danger: true,
    content: (
      <p>{`This removes “${name}” with its URLs and secrets. Waiting deliveries are dropped.`}</p>
    ),
    async run() {
      await callApi('DELETE', `/rules/${_id}`);
      notify('Rule removed.');
    },
  });

/** Asks for the URL of a new action. */
export const addAction = ({ _id }: Rule): void =>
  openForm({
    title: 'Add a URL',
    go: 'Add',
    content: <ActionFields withPayload />,
    run: (form) => callApi('POST', `/rules/${_id}/actions`, actionOf(form, undefined)),
  });

/** Asks for the new URL and payload of an action. */
export function editAction({ _id, kind }: Rule, action: Action): void {
  const withPayload = kind === 'rule';
  openForm({
    title: 'Edit the action',
    go: 'Save',
    content: <ActionFields action={action} withPayload={withPayload} />,
    run(form) {
      const changes = actionOf(form, null);
      const path = `/rules/${_id}/actions/${action._id}`;
      return callApi('PATCH', path, withPayload ? changes : { url: changes.url });
    },
  });
}

/** Asks before it removes an action. */
export const removeAction = ({ _id: ruleId }: Rule, { _id, url }: Action): void =>
  openForm({
    title: 'Remove the action?',
    go: 'Remove',
    danger: true,
    content: <p>{`This removes ${url} and its secret. Waiting deliveries are dropped.`}</p>,
    async run() {
      await callApi('DELETE', `/rules/${ruleId}/actions/${_id}`);
      notify('Action removed.');
    },
  });

/** Asks for the body of an event and sends it to an action. */
export const sendEvent = ({ _id: ruleId, trigger }: Rule, { _id: actionId, url }: Action): void =>
  openForm({
    title: 'Send an event',
    go: 'Send',
    wide: true,
    content: (
      <>
        <p class="hint">{`It is signed and sent to ${url}, also while the rule is paused.`}</p>
        <BodyField body={{ eventName: trigger, callId: 'my-call', createdAt: Date.now() }} />
      </>
    ),
    async run(form) {
      const event = { ruleId, actionId, body: fieldValue(form, 'body') };
      const { _id, number } = await callApi<Delivery>('POST', '/deliveries', event);
      notify(`Sent as #${String(number)}.`);
      store.select(_id);
    },
  });

/** A field for the body of an event. */
export const BodyField = ({ body }: { readonly body: unknown }) => (
  <TextArea
    label="Body"
    name="body"
    rows={12}
    required
    defaultValue={JSON.stringify(body, null, 2)}
    hint="JSON. It is sent as it is here."
  />
);

interface FieldsProps {
  readonly action?: Action;
  /** Whether its rule sends custom payloads. */
  readonly withPayload: boolean;
}

const ActionFields = ({ action, withPayload }: FieldsProps) => (
  <>
    <Field label="URL" name="url" inputMode="url" required defaultValue={action?.url} />
    {withPayload && (
      <TextArea
        label="Custom payload"
        name="payload"
        rows={5}
        defaultValue={action?.payload === undefined ? '' : JSON.stringify(action.payload, null, 2)}
        hint="JSON with {{placeholders}}. Leave it empty to send the event itself."
      />
    )}
  </>
);

/** @param none the payload of a form without one */
function actionOf(form: HTMLFormElement, none: null | undefined) {
  const text = fieldValue(form, 'payload');
  return {
    url: wholeUrl(fieldValue(form, 'url')),
    payload: text === undefined ? none : parseJson(text),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('invalid-input', 'The custom payload is not valid JSON.');
  }
}
