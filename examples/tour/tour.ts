import type { Control } from './control.ts';
import { newRows, type Row } from './rows.ts';
import { stepsFor, type Step } from './steps.ts';
import { heading, line } from './table.ts';
import { ink } from './ink.ts';

/** What a tour prints with, and how fast it goes. */
interface Pace {
  readonly print: (text: string) => void;
  /** Milliseconds between two steps. */
  readonly pauseMs: number;
}

/** A tour that can be taken once, and a look at what comes after it. */
export interface Tour {
  /** Takes all steps. @returns what was not as it must be; nothing when all was */
  take(): Promise<{ answers: number; wrong: string[] }>;
  /** Prints what happened since the last look. */
  look(): Promise<Row[]>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function tourOf(
  control: Control,
  target: { url: string; secret: string },
  { print, pauseMs }: Pace,
): Promise<Tour> {
  const rows = newRows(control);
  const { now: startedAt } = await control.clock();

  async function look(): Promise<Row[]> {
    const found = await rows();
    for (const row of found) print(line(row, startedAt));
    return found;
  }

  /** Turns the clock from one thing that is due to the next, and shows what comes of it. */
  async function takeStep({ chaos = {}, run }: Step): Promise<string[]> {
    await control.setChaos(chaos);
    await run(control);
    await control.landed();
    await control.clearChaos();
    const found = await look();
    while ((await control.clock()).nextDueAt !== null) {
      await control.turnToNext();
      await control.landed();
      found.push(...(await look()));
    }
    return found.map(({ answer }) => answer);
  }

  return {
    look,
    async take() {
      await control.forward(target);
      print(heading());
      const wrong: string[] = [];
      let answers = 0;
      for (const step of stepsFor(target)) {
        print(`\n${ink.bold(step.title)}`);
        const seen = await takeStep(step);
        answers += seen.length;
        if ([...seen].sort().join() !== [...step.expected].sort().join())
          wrong.push(`${step.title}: must be ${step.expected.join(', ')}`);
        await pause(pauseMs);
      }
      return { answers, wrong: wrong.map((text) => ink.red(text)) };
    },
  };
}
