import type { BenchOptions } from './options.ts';

/** What one turn found, by measure: microseconds of CPU time for each delivery, for instance. */
export type Figures = Readonly<Record<string, number>>;

/** The figures of every contender in one round. */
export type Round = Readonly<Record<string, Figures>>;

/** A contender that is ready to be measured. */
export interface Running {
  turn(): Promise<Figures>;
  stop?(): unknown;
}

/** A contender that runs over the packages of one checkout: `root` is empty for this one. */
export type Start = (root: string) => Promise<Running> | Running;

export interface Question {
  /** Those of one group, which is the first word, take their turns one after the other. */
  readonly contenders: Readonly<Record<string, Start>>;
  /** Contenders that are divided by others. */
  readonly compare: readonly (readonly [over: string, under: string])[];
  /** Whether a contender uses our packages. */
  readonly isOurs: (name: string) => boolean;
  /** Turns of each that are not counted, before the first round. */
  readonly warmUps: number;
}

/** What the name of a contender of another build ends with. */
export const OTHER = ', other build';

/**
 * Starts the contenders that were asked for, and gives each one turn in every round, in a new order each
 * time, so that other work on the machine affects all of them alike.
 */
export async function runRounds(
  question: Question,
  options: Pick<BenchOptions, 'only' | 'other' | 'rounds' | 'quick'>,
): Promise<Round[]> {
  const { rounds } = options;
  const starts = selected(question, options);
  const running: Record<string, Running> = {};
  const counted: Round[] = [];
  try {
    for (const [name, start] of starts) {
      show(`starts ${name}`);
      running[name] = await start();
    }
    for (let round = options.quick ? 0 : -question.warmUps; round < rounds; round++) {
      show(`round ${String(round + 1)} of ${String(rounds)}`);
      const figures = Object.fromEntries(starts.map(([name]): [string, Figures] => [name, {}]));
      for (const name of inTurn(Object.keys(figures)))
        figures[name] = await (running[name] as Running).turn();
      if (round >= 0) counted.push(figures);
    }
  } finally {
    show('');
    for (const one of Object.values(running)) await one.stop?.();
  }
  return counted;
}

/** Those that `--only` names, what they are divided by, and ours once more over the other build. */
function selected(
  { contenders, compare, isOurs }: Question,
  { only = '', other }: Pick<BenchOptions, 'only' | 'other'>,
): [name: string, start: () => ReturnType<Start>][] {
  return Object.entries(contenders)
    .filter(([name]) =>
      [name, ...compare.filter(([, under]) => under === name).map(([over]) => over)].some((one) =>
        one.includes(only),
      ),
    )
    .flatMap(([name, start]) => [
      [name, () => start('')],
      ...(other !== undefined && isOurs(name)
        ? [[name + OTHER, () => start(other)] satisfies [string, unknown]]
        : []),
    ]);
}

/** On one line of a terminal; nothing where there is no terminal. */
function show(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
}

function inTurn(names: readonly string[]): string[] {
  const group = (name: string) => name.split(/[ ,]/, 1)[0];
  return shuffled([...new Set(names.map(group))]).flatMap((one) =>
    shuffled(names.filter((name) => group(name) === one)),
  );
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [list[i], list[j]] = [list[j] as Item, list[i] as Item];
  }
  return list;
}
