import type { NamedTerm } from '@call-webhooks/client';
import type { Sequence, Template } from '../activity/directory.ts';

/** `template:`: by name or title. If that is not exact and unique, the first that matches. */
export function templateIds(term: NamedTerm, all: readonly Template[]): ReadonlySet<string> {
  if (term.kind === 'any') return idsOf(all);
  return idsOf(chosen(term.value, all, ({ name, title }) => [name, title]));
}

/** `sequence:`: by `_id` or name. If the name is not exact, the first that matches. */
export function sequenceIds(term: NamedTerm, all: readonly Sequence[]): ReadonlySet<string> {
  if (term.kind === 'any') return idsOf(all);
  const byId = all.filter(({ _id }) => _id === term.value);
  return idsOf(byId.length > 0 ? byId : chosen(term.value, all, ({ name }) => [name]));
}

function chosen<Named>(
  value: string,
  all: readonly Named[],
  namesOf: (one: Named) => readonly string[],
): Named[] {
  const wanted = value.toLowerCase();
  const exact = all.filter((one) => namesOf(one).some((name) => name.toLowerCase() === wanted));
  if (exact.length === 1) return exact;
  const first = all.find((one) => namesOf(one).some((name) => name.toLowerCase().includes(wanted)));
  return first ? [first] : [];
}

const idsOf = (all: readonly { _id: string }[]) => new Set(all.map(({ _id }) => _id));
