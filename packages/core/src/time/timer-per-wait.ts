import { Watch, type Wait } from './watch.ts';

/** A watch with a timer for each wait: each then belongs to the request that waits. */
export class TimerPerWait extends Watch {
  readonly #timers = new Map<Wait, ReturnType<typeof setTimeout>>();

  override add(wait: Wait): void {
    this.delete(wait);
    const wake = () => {
      this.#timers.delete(wait);
      wait.wake();
    };
    const ms = Math.max(0, Math.ceil(wait.at - performance.now()));
    this.#timers.set(wait, setTimeout(wake, ms));
  }

  override delete(wait: Wait): void {
    clearTimeout(this.#timers.get(wait));
    this.#timers.delete(wait);
  }
}
