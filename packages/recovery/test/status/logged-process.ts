import type { Outcome } from '@call-webhooks/core';
// The real writer, whose timers are those of the agenda.
import { OutcomeWriter } from '../../../core/src/store/outcome-writer.ts';
import type { Deadlines } from '../../../core/src/time.ts';
import { SETTLES, type Agenda } from './agenda.ts';
import type { ModelStore } from './model-store.ts';

/** A process whose outcomes get into the log of the store. */
export class LoggedProcess {
  /** How far its clock is ahead; milliseconds. */
  ahead: number;
  readonly isUp: () => boolean;
  readonly #agenda: Agenda;
  readonly #store: ModelStore;
  #writer: OutcomeWriter | undefined;

  constructor(
    agenda: Agenda,
    store: ModelStore,
    ahead: number,
    isUp: ((time: number) => boolean) | undefined,
  ) {
    this.#agenda = agenda;
    this.#store = store;
    this.ahead = ahead;
    this.isUp = () => isUp?.(agenda.now) ?? true;
  }

  add(outcome: Outcome): void {
    this.#writer ??= this.#start();
    this.#writer.add(outcome);
  }

  /** It dies with what it has not written, and another process takes its place. */
  kill(): void {
    this.#writer = undefined;
  }

  #start(): OutcomeWriter {
    const agenda = this.#agenda;
    const isMine = () => this.#writer === writer;
    const writer: OutcomeWriter = new OutcomeWriter(this.#store.log, {
      logger: { warn: () => undefined, error: () => undefined },
      timeoutMs: 2_000,
      now: () => agenda.now + this.ahead,
      describe: () => ({ inFlight: 0, ackWithin: 20_000, rememberFor: 86_400_000 }),
      deadlines: {
        in(ms: number, onReached: () => void) {
          let isCancelled = false;
          agenda.at(agenda.now + ms, () => {
            if (isCancelled || !isMine()) return undefined;
            onReached();
            return SETTLES;
          });
          return { cancel: () => void (isCancelled = true) };
        },
        withTimeout: async (_ms: number, work: PromiseLike<unknown>) => work,
      } as unknown as Deadlines,
    });
    return writer;
  }
}
