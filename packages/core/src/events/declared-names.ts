/** The libraries whose schemas list their field names in a way that `declaredNames` can read. */
const READABLE = new Set(['zod', 'valibot']);
/** Where schemas keep the fields of an object. */
const FIELD_LISTS = ['shape', 'entries'];
const MAX_NODES = 5_000;

/**
 * The field names that a schema declares: the only keys of a body that are surely no personal data.
 * A key of a record (`{ "Lovelace": 3 }`) is not among them.
 * @returns `undefined` for the schema of a library that is not known here
 */
export function declaredNames(schema: unknown, vendor: string): Set<string> | undefined {
  if (!READABLE.has(vendor)) return undefined;
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (seen.has(node) || seen.size >= MAX_NODES) return;
    seen.add(node);
    for (const list of FIELD_LISTS) {
      const fields = (node as Record<string, unknown>)[list];
      if (typeof fields === 'object' && fields !== null)
        for (const name of Object.keys(fields)) names.add(name);
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  try {
    visit(schema);
  } catch {
    // A getter of the schema threw. The names found so far are enough: others are redacted.
  }
  return names;
}
