// A whole secret: not the middle of a word, and not a shortened or starred-out one.
const secretText = /(?<![\w+/])whsec_[A-Za-z0-9+/]+={0,2}(?![\w+/=*•…-]|\.{2})/g;

// Not recursive: an answer may be nested deeper than the stack, and its secret is the only copy.
function* strings(answer: unknown): Generator<string> {
  const left: unknown[] = [answer];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') yield value;
    if (typeof value !== 'object' || value === null) continue;
    // Pushed in reverse, so that they are popped in the order of the answer.
    const entries: unknown[] = Array.isArray(value) ? value : Object.entries(value).flat();
    for (let index = entries.length - 1; index >= 0; index--) left.push(entries[index]);
  }
}

/**
 * Finds signing secrets (`whsec_` and base64 text) wherever they stand in an answer, whose shape
 * the spec does not show. Each is named once, in the order of the answer.
 */
export function findSecrets(value: unknown): string[] {
  const found = new Set<string>();
  for (const text of strings(value)) {
    for (const [secret] of text.matchAll(secretText)) found.add(secret);
  }
  return [...found];
}
