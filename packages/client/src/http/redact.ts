const hidden = '[hidden]';
const deepest = 100;

/** Takes sensitive texts out of strings, and out of all strings of a JSON value (what is nested more than 100 deep goes whole). */
export interface Redactor {
  text(value: string): string;
  json(value: unknown): unknown;
}

/** Makes a redactor for texts such as the token, a secret or a query. Empty ones are skipped. */
export function createRedactor(sensitive: readonly string[]): Redactor {
  const forms = new Set<string>();
  for (const value of sensitive) {
    if (value === '') continue;
    forms.add(value).add(encodeURIComponent(value)).add(JSON.stringify(value).slice(1, -1));
  }
  // Longest first, so that no form leaves a remainder of a longer one behind.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  const text = (value: string): string =>
    ordered.reduce((result, form) => result.replaceAll(form, hidden), value);
  const json = (value: unknown, depth = 0): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    // Nobody reads that deep, and a recursion without an end is the stack's end.
    if (depth === deepest) return hidden;
    const clean = (item: unknown): unknown => json(item, depth + 1);
    if (Array.isArray(value)) return value.map(clean);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), clean(item)]));
  };
  return { text, json: (value) => json(value) };
}
