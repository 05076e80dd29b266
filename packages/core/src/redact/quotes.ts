/**
 * Removes the parts of longer values: a message may contain just the first words of a note.
 * @param partLength so many characters in a row that also occur in one value are a part of it
 */
export function redactQuotes(text: string, values: readonly string[], partLength: number): string {
  if (values.length === 0) return text;
  const lower = text.toLowerCase();
  // A rare letter gets longer in lower case. Then the positions would differ.
  const fold = (value: string) => (lower.length === text.length ? value.toLowerCase() : value);
  const searched = fold(text);
  const partAt = (of: string, at: number) => of.slice(at, at + partLength);
  const parts = new Set<string>();
  for (let at = 0; at <= searched.length - partLength; at++) parts.add(partAt(searched, at));
  const quoted = new Set<string>();
  for (const value of values.map(fold))
    for (let at = 0; at <= value.length - partLength; at++)
      if (parts.has(partAt(value, at))) quoted.add(partAt(value, at));
  let clean = '';
  let kept = 0; // where the text that is not copied yet begins
  for (let at = 0; at <= searched.length - partLength; at++) {
    if (!quoted.has(partAt(searched, at))) continue;
    let end = at + partLength;
    while (quoted.has(partAt(searched, end - partLength + 1))) end++;
    clean += `${text.slice(kept, at)}[redacted]`;
    kept = end;
    at = end - 1;
  }
  return clean + text.slice(kept);
}
