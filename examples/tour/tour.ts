import { styleText } from 'node:util';
import type { Rule } from '@call-webhooks/simulator';
import type { Control } from './control.ts';
import { newRows, type Row } from './rows.ts';
import { stepsFor, type Operations, type Step, type Target } from './steps.ts';
import { heading, line } from './table.ts';

/** Where the tour prints, and how fast it runs. */
interface Pace {
  readonly print: (text: string) => void;
  /** Milliseconds between two steps. */
  readonly pauseMs: number;
}

/** The tour, and the requests after it. */
export interface Tour {
  /** Runs all steps. @returns what went wrong, if anything */
  take(): Promise<{ answers: number; wrong: string[] }>;
  /** Prints the requests since the last call. */
  look(): Promise<Row[]>;
}

/** Two rules and the recording webhook, with separate secrets. @returns the rule of `call:completed` */
async function createRules(control: Control, { url, secrets }: Target): Promise<Rule> {
  const create = (trigger: 'call:started' | 'call:completed', secret: string) =>
    control.createRule({ trigger, scope: 'workspace', actions: [{ url, secret }] });
  await create('call:started', secrets.started);
  await control.setRecordingWebhook({ url, secret: secrets.recording });
  return create('call:completed', secrets.completed);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function tourOf(
  control: Control,
  target: Target,
  operations: Operations,
  { print, pauseMs }: Pace,
): Promise<Tour> {
  const rows = newRows(control);
  const { now: startedAt } = await control.clock();

  async function look(): Promise<Row[]> {
    const found = await rows();
    for (const row of found) print(line(row, startedAt));
    return found;
  }

  /** Advances the clock step by step to each due delivery, and prints the result. */
  async function takeStep({ chaos = {}, run, then }: Step): Promise<string[]> {
    await control.setChaos(chaos);
    await run(control);
    await control.settled();
    await control.clearChaos();
    const found = await look();
    let isThen = false;
    while ((await control.clock()).nextDueAt !== null) {
      await control.turnToNext();
      await control.settled();
      found.push(...(await look()));
      if (!then || isThen || found.length < then.after) continue;
      isThen = true;
      await then.run();
    }
    return found.map(({ answer }) => answer);
  }

  return {
    look,
    async take() {
      const completed = await createRules(control, target);
      print(heading());
      const wrong: string[] = [];
      let answers = 0;
      for (const step of stepsFor({ target, completed, ...operations })) {
        print(`\n${styleText('bold', step.title)}`);
        const seen = await takeStep(step);
        answers += seen.length;
        if ([...seen].sort().join() !== [...step.expected].sort().join())
          wrong.push(`${step.title}: expected ${step.expected.join(', ')}`);
        await pause(pauseMs);
      }
      await operations.showStatus();
      return { answers, wrong: wrong.map((text) => styleText('red', text)) };
    },
  };
}
