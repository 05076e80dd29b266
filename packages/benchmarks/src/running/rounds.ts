/** CPU microseconds an operation, by contender; one such record a round. */
export type Round<Name extends string> = Readonly<Record<Name, number>>;

/** Something that can be measured: one turn costs so many CPU microseconds an operation. */
export interface Runner {
  turn(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Lets all runners have one turn in each round, in a new order each time, so that whatever else the
 * machine does falls on all of them alike. Those that are compared, the contenders of one framework
 * (the first word of the name), have their turns right after each other.
 * @param warmUps turns of each that are not counted, before the first round
 */
export async function runRounds<Name extends string>(
  runners: Readonly<Record<Name, Runner>>,
  { rounds, warmUps, onTurn }: { rounds: number; warmUps: number; onTurn?: () => void },
): Promise<Round<Name>[]> {
  const names = Object.keys(runners) as Name[];
  const seen: Round<Name>[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const costs = Object.fromEntries(names.map((name) => [name, NaN])) as Record<Name, number>;
    for (const name of shuffled(groups(names)).flatMap((group) => shuffled(group))) {
      costs[name] = await runners[name].turn();
      onTurn?.();
    }
    if (round >= 0) seen.push(costs);
  }
  return seen;
}

/** By the first word. */
function groups<Name extends string>(names: readonly Name[]): Name[][] {
  const found = new Map<string, Name[]>();
  for (const name of names) {
    const word = name.split(' ', 1)[0] as string;
    found.set(word, [...(found.get(word) ?? []), name]);
  }
  return [...found.values()];
}

/** Fisher and Yates. */
export function shuffled<Item>(items: readonly Item[], random = Math.random): Item[] {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j] as Item, list[i] as Item];
  }
  return list;
}
