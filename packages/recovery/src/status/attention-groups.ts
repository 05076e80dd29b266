import type { Attention } from './types.ts';

/** Items of one kind that are equally urgent and have the same fix, such as three events behind one slow store. */
export interface AttentionGroup extends Pick<Attention, 'kind' | 'urgent' | 'fix' | 'docs'> {
  /** When the first of them began; milliseconds since the epoch. */
  readonly since: number;
  /** At least one, in the order of `attention`. */
  readonly items: readonly Attention[];
}

/** What belongs together, to be shown with its fix once. @param attention that of a status, the most urgent first */
export function groupedAttention(attention: readonly Attention[]): readonly AttentionGroup[] {
  const groups = new Map<string, [Attention, ...Attention[]]>();
  for (const item of attention) {
    const id = JSON.stringify([item.kind, item.urgent, item.fix]);
    const group = groups.get(id);
    if (group) group.push(item);
    else groups.set(id, [item]);
  }
  return [...groups.values()].map((items) => {
    const [{ kind, urgent, fix, docs }] = items;
    return { kind, urgent, fix, docs, since: Math.min(...items.map(({ since }) => since)), items };
  });
}
