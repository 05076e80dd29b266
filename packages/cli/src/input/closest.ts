/** How many letters have to be changed, added, dropped or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = [...Array(b.length + 1).keys()];
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let at = 1; at <= b.length; at++) {
      const same = a[row - 1] === b[at - 1] ? 0 : 1;
      let cost = Math.min((last[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + same);
      const swapped = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      if (swapped) cost = Math.min(cost, (before[at - 2] ?? 0) + 1);
      line.push(cost);
    }
    before = last;
    last = line;
  }
  return last[b.length] ?? 0;
}

/** The name that was most likely meant: no more than a third of it differs, or it is the end of one. */
export function closest(given: string, names: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  const ranked = names
    .map((name) => ({
      name,
      away: name.endsWith(`:${wanted}`) ? 0 : distance(wanted, name.toLowerCase()),
    }))
    .sort((one, other) => one.away - other.away);
  const [best] = ranked;
  return best && best.away <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}
