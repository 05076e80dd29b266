const MARKER = /^\s*(?:\/\/|#|<!--): (?:if (?<condition>[^>]*?)|end)(?: -->)?$/;

/** What a template is rendered for. */
export interface Values {
  /** The conditions that hold, such as `express` and `typescript`. */
  readonly conditions: ReadonlySet<string>;
  /** The texts of `{{name}}` and the like. */
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Renders a template. The lines between `//: if node postgres|redis` and `//: end` stay if all of its
 * words hold, where `a|b` holds if one of them does; in other files, the marks are comments of theirs.
 * @throws if a mark has no partner, or a text is not known
 */
export function render(template: string, { conditions, texts }: Values): string {
  const kept: string[] = [];
  let included: boolean | undefined; // undefined: outside of all marks
  for (const line of template.split('\n')) {
    const mark = MARKER.exec(line);
    if (mark) {
      const condition = mark.groups?.['condition'];
      if ((condition === undefined) === (included === undefined))
        throw new Error(`This mark has no partner: ${line.trim()}`);
      included = condition === undefined ? undefined : holds(condition, conditions);
    } else if (included !== false) kept.push(line);
  }
  if (included !== undefined) throw new Error('A mark is not closed.');
  return kept.join('\n').replace(/\{\{(\w+)\}\}/g, (_token, name: string) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`There is no text for {{${name}}}.`);
    return text;
  });
}

const holds = (condition: string, conditions: ReadonlySet<string>): boolean =>
  condition.split(' ').every((word) => word.split('|').some((one) => conditions.has(one)));
