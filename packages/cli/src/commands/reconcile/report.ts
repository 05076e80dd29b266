import type { ReconciledEvent, ReconcileResult } from '@call-webhooks/recovery';
import type { App } from '../../app.ts';
import { progressBar } from '../../terminal/progress.ts';
import { t } from '../../terminal/text.ts';

/** Prints what becomes of the events while a reconciliation runs, and then the result. */
export class Report {
  /** So far. */
  result: ReconcileResult | undefined;
  readonly #app: App;
  readonly #isDry: boolean;
  readonly #bar: ReturnType<typeof progressBar>;
  #printing = Promise.resolve();

  constructor(app: App, isDry: boolean) {
    this.#app = app;
    this.#isDry = isDry;
    this.#bar = progressBar(app.io, app.output.messageColors, (seen) => `${String(seen)} calls`);
  }

  readonly onEvent = ({ callId, event, outcome, missed }: ReconciledEvent): void => {
    const { output } = this.#app;
    const { eventName } = event;
    const found = this.#isDry ? {} : { outcome, missed };
    const record = { type: 'event', eventName, callId, ...found };
    if (output.json) {
      this.#printing = this.#printing.then(() => output.print(record));
    } else if (this.#isDry) {
      this.#bar.clear();
      this.#printing = this.#printing.then(() =>
        output.print(record, ({ bold }) => t`${eventName}  ${bold(callId)}`),
      );
    } else if (missed && outcome !== 'handled' && outcome !== 'queued') {
      this.#bar.clear();
      output.message(t`${callId}  ${eventName}  failed: ${outcome}`);
    }
  };

  readonly onProgress = (result: ReconcileResult): void => {
    this.result = result;
    this.#bar.update(result.seen, undefined);
  };

  /** Waits until all events are printed, and removes the bar. */
  async end(): Promise<void> {
    await this.#printing;
    this.#bar.clear();
  }

  /** Prints the result of all. */
  async print({ ignored, stoppedEarly: _never, ...result }: ReconcileResult): Promise<void> {
    const { seen, missed, handled, known, inDeadLetters, failed, skipped } = result;
    const record = this.#isDry ? { dryRun: true, seen, events: ignored, skipped } : { ...result };
    const others = skipped > 0 ? t`, ${skipped} skipped` : t``;
    const dead = inDeadLetters > 0 ? t`, ${inDeadLetters} in the dead letters` : t``;
    const unhandled = !this.#isDry && ignored > 0 ? t`, ${ignored} without a handler` : t``;
    await this.#app.output.print(
      { type: 'result', ...record, ...(!this.#isDry && { ignored }) },
      ({ bold }) =>
        this.#isDry
          ? t`${seen} calls, ${bold(ignored)} events would be sent${others}`
          : t`${seen} calls: ${bold(missed)} events missed, ${handled} handled, ${known} known, ${failed} failed${dead}${unhandled}${others}`,
    );
    if (inDeadLetters > 0)
      this.#app.output.message(
        'To run what is in the dead letters: call-webhooks dead-letters redrive',
      );
  }
}
