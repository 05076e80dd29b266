const WHOLE = /^\{\{\s*([\w:.-]+)\s*\}\}$/;
const PART = /\{\{\s*([\w:.-]+)\s*\}\}/g;

/**
 * A custom payload with its `{{placeholders}}` filled in. How the service writes them is not shown;
 * this is ours. A text that is one placeholder and nothing else takes the value with its type, and
 * `null` where there is none; within a longer text a value stands as text.
 */
export function fillTemplate(
  template: unknown,
  values: Readonly<Record<string, unknown>>,
): unknown {
  const value = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  if (typeof template === 'string') {
    const whole = WHOLE.exec(template)?.[1];
    return whole === undefined
      ? template.replace(PART, (_text, name: string) => asText(value(name)))
      : (value(whole) ?? null);
  }
  if (Array.isArray(template)) return template.map((item) => fillTemplate(item, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, item]) => [name, fillTemplate(item, values)]),
  );
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
