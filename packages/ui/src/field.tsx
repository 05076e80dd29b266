import type { ComponentChildren, JSX } from 'preact';

// JSX has one type of input for each `type` and `role`; the properties here are of all of them.
type Input = JSX.IntrinsicElements['input'];

type InputProps = Omit<Input, 'label'> & {
  readonly label: string;
  readonly hint?: ComponentChildren;
};

/** A labelled input. Use `defaultValue`: the browser holds what the user typed. */
export const Field = ({ label, hint, ...input }: InputProps) => (
  <label class="field">
    <span class="field-label">{label}</span>
    <input autocomplete="off" spellcheck={false} {...(input as Input)} />
    {hint !== undefined && <span class="hint">{hint}</span>}
  </label>
);

type TextAreaProps = Omit<JSX.IntrinsicElements['textarea'], 'label'> & {
  readonly label: string;
  readonly hint?: ComponentChildren;
};

/** A labelled text area. */
export const TextArea = ({ label, hint, ...area }: TextAreaProps) => (
  <label class="field">
    <span class="field-label">{label}</span>
    <textarea autocomplete="off" spellcheck={false} {...area} />
    {hint !== undefined && <span class="hint">{hint}</span>}
  </label>
);

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => unknown;
  readonly id?: string;
  readonly hidden?: boolean;
}

/** A list to choose from. Its label is for screen readers. */
export const Select = ({ label, value, options, onChange, id, hidden }: SelectProps) => (
  <select
    id={id}
    hidden={hidden}
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => void onChange(currentTarget.value)}
  >
    {options.map(([one, text]) => (
      <option key={one} value={one}>
        {text}
      </option>
    ))}
  </select>
);

interface SwitchProps {
  readonly label: string;
  readonly id?: string;
  /** The name of the field in a form. */
  readonly name?: string;
  /** For a switch in a form. */
  readonly defaultChecked?: boolean;
  /** For a switch that does something at once. */
  readonly checked?: boolean;
  readonly onChange?: (checked: boolean) => unknown;
}

/** A labelled switch. */
export const Switch = ({ label, onChange, ...input }: SwitchProps) => (
  <label class="toggle">
    <input
      type="checkbox"
      role="switch"
      {...input}
      onChange={({ currentTarget }) => void onChange?.(currentTarget.checked)}
    />
    <span>{label}</span>
  </label>
);

/** The trimmed text of a field; `undefined` when it is empty. */
export function fieldValue(form: HTMLFormElement, name: string): string | undefined {
  const value = new FormData(form).get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
