/** A signing secret in a response, and where it is. */
export interface FoundSecret {
  readonly secret: string;
  /** The keys and indexes that lead to it, from the outside in. */
  readonly path: readonly string[];
  /** The objects and arrays around it, from the outside in. */
  readonly parents: readonly object[];
}

// A whole secret: not the middle of a word, and not shortened or masked.
const secretText = /(?<![\w+/])whsec_[A-Za-z0-9+/]+={0,2}(?![\w+/=*•…-]|\.{2})/g;

interface Place {
  readonly key: string;
  readonly parent: object;
  readonly outer: Place | undefined;
}

/**
 * Finds signing secrets (`whsec_` and base64 text) anywhere in a response, whose shape the spec does
 * not show. Returns every occurrence, in the order of the response.
 */
export function findSecrets(response: unknown): FoundSecret[] {
  const found: FoundSecret[] = [];
  // Not recursive: a response may be nested deeper than the stack, and its secret is the only copy.
  const left: { value: unknown; place: Place | undefined }[] = [
    { value: response, place: undefined },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, place } = next;
    if (typeof value === 'string') {
      for (const [secret] of value.matchAll(secretText)) found.push({ secret, ...around(place) });
    }
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.entries(value).flatMap(([key, item]) => {
      const at = { key, parent: value, outer: place };
      return [
        { value: key, place: at },
        { value: item as unknown, place: at },
      ];
    });
    // Reversed, so that they are taken off in the order of the response.
    for (const item of inner.reverse()) left.push(item);
  }
  return found;
}

function around(place: Place | undefined): Omit<FoundSecret, 'secret'> {
  const path: string[] = [];
  const parents: object[] = [];
  for (let at = place; at !== undefined; at = at.outer) {
    path.push(at.key);
    parents.push(at.parent);
  }
  return { path: path.reverse(), parents: parents.reverse() };
}
