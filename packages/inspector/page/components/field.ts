import { h, type Properties } from '../dom/element.ts';

/** A labelled input. */
export const field = (label: string, properties: Properties, hint?: string): HTMLElement =>
  h(
    'label',
    { class: 'field' },
    h('span', { class: 'field-label' }, label),
    h('input', { autocomplete: 'off', spellcheck: 'false', ...properties }),
    hint !== undefined && h('span', { class: 'hint' }, hint),
  );

/** A labelled text area. */
export const textArea = (
  label: string,
  properties: Properties,
  text: string,
  hint: string,
): HTMLElement =>
  h(
    'label',
    { class: 'field' },
    h('span', { class: 'field-label' }, label),
    h('textarea', { autocomplete: 'off', spellcheck: 'false', ...properties }, text),
    h('span', { class: 'hint' }, hint),
  );

/** A labelled switch. */
export const toggle = (label: string, properties: Properties): HTMLElement =>
  h(
    'label',
    { class: 'toggle' },
    h('input', { type: 'checkbox', role: 'switch', ...properties }),
    label,
  );

/** The trimmed text of a field; `undefined` when it is empty. */
export function fieldValue(form: HTMLFormElement, name: string): string | undefined {
  const value = new FormData(form).get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
