import { ApiError, Field, fieldValue, openForm, TextArea } from '@call-webhooks/ui';
import type { Action, Rule } from '@call-webhooks/simulator/control-api';
import { callApi } from '../state/api.ts';
import { wholeUrl } from '../state/labels.ts';

const remove = (title: string, text: string, path: string): void =>
  openForm({
    title,
    go: 'Remove',
    danger: true,
    content: <p>{`This removes ${text}. Waiting events are dropped.`}</p>,
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
