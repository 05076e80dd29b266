/** CPU microseconds per operation by contender, in one round. */
export type Round<Name extends string = string> = Readonly<Record<Name, number>>;

/** Something that can be measured. A turn returns its CPU microseconds per operation. */
export interface Runner {
  turn(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Gives every runner one turn in each round, in a new order each time, so that other work on the
 * machine affects all of them alike. Contenders of one framework (the first word of the name) take
 * their turns right after each other.
 * @param warmUps turns of each that are not counted, before the first round
 */
export async function runRounds<Name extends string>(
  runners: Readonly<Record<Name, Runner>>,
  { rounds, warmUps, onTurn }: { rounds: number; warmUps: number; onTurn?: () => void },
): Promise<Round<Name>[]> {
  const names = Object.keys(runners) as Name[];
  const counted: Round<Name>[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const costs = Object.fromEntries(names.map((name) => [name, NaN])) as Record<Name, number>;
    for (const name of inTurn(names)) {
      costs[name] = await runners[name].turn();
      onTurn?.();
    }
    if (round >= 0) counted.push(costs);
  }
  return counted;
}

/** Shows the turns done, on one line of a terminal; nothing where there is no terminal. */
export function progress(part: string, turns: number): { onTurn(): void; done(): void } {
  const { stderr } = process;
  let count = 0;
  const show = (line: string) => {
    if (stderr.isTTY) stderr.write(`\r\u001b[K${line}`);
  };
  return {
    onTurn: () => {
      show(`${part}: ${++count} of ${turns}`);
    },
    done: () => {
      show('');
    },
  };
}

/** A new order, in which names with the same first word are beside each other. */
export const inTurn = <Name extends string>(names: readonly Name[]): Name[] =>
  shuffled(groups(names)).flatMap((group) => shuffled(group));

/** Names with the same first word. */
function groups<Name extends string>(names: readonly Name[]): Name[][] {
  const found = new Map<string, Name[]>();
  for (const name of names) {
    const word = name.split(' ', 1)[0] as string;
    found.set(word, [...(found.get(word) ?? []), name]);
  }
  return [...found.values()];
}

/** A shuffled copy (Fisher and Yates). */
export function shuffled<Item>(items: readonly Item[], random = Math.random): Item[] {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j] as Item, list[i] as Item];
  }
  return list;
}
