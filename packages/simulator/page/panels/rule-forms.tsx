import { ApiError, Field, fieldValue, notify, openForm, TextArea } from '@call-webhooks/ui';
import type { Action, Delivery, Rule } from '@call-webhooks/simulator/control-api';
import { callApi } from '../state/api.ts';
import { wholeUrl } from '../state/labels.ts';
import { store } from '../state/store.ts';

/** Asks for a new name of a rule. */
export const renameRule = ({ _id, name }: Rule): void =>
  openForm({
    title: 'Rename the rule',
    go: 'Rename',
    content: <Field label="Name" name="name" defaultValue={name} required />,
    run: (form) => callApi('PATCH', `/rules/${_id}`, { name: fieldValue(form, 'name') }),
  });

const remove = (title: string, text: string, path: string): void =>
  openForm({
    title,
    go: 'Remove',
    danger: true,
    content: <p>{`This removes ${text}. Waiting deliveries are dropped.`}</p>,
    run: () => callApi('DELETE', path),
  });

export const removeRule = ({ _id, name }: Rule): void => {
  remove('Remove the rule?', `“${name}” with its URLs and secrets`, `/rules/${_id}`);
};

export const removeAction = ({ _id: ruleId }: Rule, { _id, url }: Action): void => {
  remove('Remove the action?', `${url} and its secret`, `/rules/${ruleId}/actions/${_id}`);
};

/** Asks for the URL and the payload of an action, a new one by default. */
export function openActionForm({ _id, kind }: Rule, action?: Action): void {
  const withPayload = kind === 'rule';
  const path = `/rules/${_id}/actions`;
  openForm({
    title: action ? 'Edit the action' : 'Add a URL',
    go: action ? 'Save' : 'Add',
    content: <ActionFields action={action} withPayload={withPayload} />,
    run(form) {
      const url = wholeUrl(fieldValue(form, 'url'));
      const text = fieldValue(form, 'payload');
      const payload = text === undefined ? undefined : parseJson(text);
      if (!action) return callApi('POST', path, { url, payload });
      const changes = withPayload ? { url, payload: payload ?? null } : { url };
      return callApi('PATCH', `${path}/${action._id}`, changes);
    },
  });
}

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
  readonly action: Action | undefined;
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('invalid-input', 'The custom payload is not valid JSON.');
  }
}
