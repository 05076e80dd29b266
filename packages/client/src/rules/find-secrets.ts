// A whole secret: not the middle of a word, and not a shortened or starred-out one.
const secretText = /(?<![\w+/])whsec_[A-Za-z0-9+/]+={0,2}(?![\w+/=*•…-]|\.{2})/g;

function* strings(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield key;
      yield* strings(item);
    }
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
