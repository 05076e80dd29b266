import type { Action, Rule } from '@call-webhooks/simulator/control-api';
import { openDialog } from '../components/dialog.ts';
import { field, fieldValue, textArea } from '../components/field.ts';
import { notify } from '../components/notices.ts';
import { h } from '../dom/element.ts';
import { ApiError, callApi } from '../live/api.ts';

/** Asks for a new name of a rule. */
export function renameRule({ _id, name }: Rule): void {
  const content = [field('Name', { name: 'name', value: name, required: true })];
  openDialog({ title: 'Rename the rule', go: 'Rename', content }, async (form) => {
    await callApi('PATCH', `/rules/${_id}`, { name: fieldValue(form, 'name') });
  });
}

/** Asks before it removes a rule. */
export function removeRule({ _id, name }: Rule): void {
  const text = `This removes “${name}” with its URLs and secrets. Waiting deliveries are dropped.`;
  const question = { title: 'Remove the rule?', go: 'Remove', danger: true };
  openDialog({ ...question, content: [h('p', null, text)] }, async () => {
    await callApi('DELETE', `/rules/${_id}`);
    notify('Rule removed.');
  });
}

/** Asks for the URL of a new action. */
export function addAction({ _id }: Rule): void {
  const content = actionFields();
  openDialog({ title: 'Add a URL', go: 'Add', content }, async (form) => {
    await callApi('POST', `/rules/${_id}/actions`, actionOf(form, undefined));
  });
}

/** Asks for the new URL and payload of an action. */
export function editAction(rule: Rule, action: Action): void {
  const content = actionFields(action, rule.kind === 'rule');
  openDialog({ title: 'Edit the action', go: 'Save', content }, async (form) => {
    const changes = actionOf(form, null);
    const path = `/rules/${rule._id}/actions/${action._id}`;
    await callApi('PATCH', path, rule.kind === 'rule' ? changes : { url: changes.url });
  });
}

/** Asks before it removes an action. */
export function removeAction({ _id: ruleId }: Rule, { _id, url }: Action): void {
  const text = `This removes ${url} and its secret. Waiting deliveries are dropped.`;
  const question = { title: 'Remove the action?', go: 'Remove', danger: true };
  openDialog({ ...question, content: [h('p', null, text)] }, async () => {
    await callApi('DELETE', `/rules/${ruleId}/actions/${_id}`);
    notify('Action removed.');
  });
}

function actionFields(action?: Action, withPayload = true): HTMLElement[] {
  const url = field('URL', { name: 'url', type: 'url', required: true, value: action?.url });
  if (!withPayload) return [url];
  const payload = action?.payload === undefined ? '' : JSON.stringify(action.payload, null, 2);
  const hint = 'JSON with {{placeholders}}. Leave it empty to send the event itself.';
  return [url, textArea('Custom payload', { name: 'payload', rows: 5 }, payload, hint)];
}

/** @param none the payload of a form without one */
function actionOf(form: HTMLFormElement, none: null | undefined) {
  const text = fieldValue(form, 'payload');
  return { url: fieldValue(form, 'url'), payload: text === undefined ? none : parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('invalid-input', 'The custom payload is not valid JSON.');
  }
}
