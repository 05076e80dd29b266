import { dirname, join, normalize } from 'node:path';
import { anchorOf } from './anchor.ts';
import type { EntryPoint } from './entry-points.ts';
import { mapLinks } from './links.ts';
import { REPOSITORY } from './repository.ts';

const MATTER = 'editLink: false\n';

/** Changes a page that TypeDoc wrote: full names, links to the sources, short lists. */
export function improve(page: string, name: string): string {
  const [own = '', references] = page.split(/^## References$/m);
  const linked = own.replace(
    /^Defined in: (\S+?):(\d+)$/gm,
    (_, file: string, line: string) =>
      `<small>[${file}:${line}](${REPOSITORY}/blob/main/${file}#L${line})</small>`,
  );
  const titled = linked.replace(/^# .*$/m, `# @call-webhooks/${name}`).trimEnd();
  const matter = `---\ndescription: Everything that @call-webhooks/${name} exports.\n${MATTER}---\n\n`;
  return matter + titled + (references === undefined ? '\n' : exportedAgain(references));
}

/** One paragraph for what comes from other packages, in place of a section for each. */
function exportedAgain(references: string): string {
  const links = [...references.matchAll(/^(?:Re-exports|Renames and re-exports) (\[.*\)\S*)$/gm)];
  const list = links.map(([, link]) => link).join(', ');
  return `\n\n## Exported again\n\nThese come from other packages: ${list}.\n`;
}

/** The first page of the reference. */
export function apiIndex(points: readonly EntryPoint[]): string {
  const rows = points.map(
    ({ name, description }) => `| [\`@call-webhooks/${name}\`](${name}.md) | ${description} |`,
  );
  return `---
description: The functions and types of every package, from their docstrings.
${MATTER}---

# API reference

Made from the docstrings. The guides say when to use what; the options of a receiver are also in [one table](/packages/core.md#options).

| Import | Package |
| --- | --- |
${rows.sort().join('\n')}
`;
}

const HEADING = /^#{1,6} +(.*)$/gm;

/**
 * Mends links to a second heading of a name that is there only once: the plugin also counts what has
 * no heading of its own.
 * @param pages the texts of all pages by their names
 */
export function mendAnchors(pages: ReadonlyMap<string, string>): Map<string, string> {
  const headings = new Map(
    [...pages].map(([name, text]) => [
      name,
      [...text.matchAll(HEADING)].map(([, heading = '']) => anchorOf(heading)),
    ]),
  );
  const mend = (page: string, link: string) => {
    const [, path = '', anchor = '', number] = /^([^:#]*)#(.+)-(\d+)$/.exec(link) ?? [];
    const target = path === '' ? page : normalize(join(dirname(page), path)).replace(/\.md$/, '');
    const known = headings.get(target)?.filter((one) => one === anchor).length ?? 0;
    return known > 0 && known <= Number(number) ? `${path}#${anchor}` : link;
  };
  return new Map(
    [...pages].map(([name, text]) => [name, mapLinks(text, (link) => mend(name, link))]),
  );
}
