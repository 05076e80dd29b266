/** The local `$ref`s of a document that lead nowhere. */
export function brokenReferences(document: unknown): string[] {
  const broken: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name === '$ref' && typeof inner === 'string' && !resolves(document, inner))
        broken.push(inner);
      visit(inner);
    }
  };
  visit(document);
  return broken;
}

function resolves(document: unknown, reference: string): boolean {
  if (!reference.startsWith('#/')) return false;
  const names = reference
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
  return found !== undefined;
}
