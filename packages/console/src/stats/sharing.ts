import type { Outcome } from '@call-webhooks/core';
import type { InFlight } from '../api-types.ts';
import { CountSeries, DAY, HOUR } from './series.ts';
import { MAX_SLOTS, Slot, type StatsStore } from './slot.ts';
import {
  loadSlot,
  saveSlot,
  type SlotContent,
  type SlotCounts,
  type StatsProcess,
} from './slot-content.ts';

const AT_ONCE = 8;

/** What `Sharing` needs. */
export interface SharingParts {
  readonly store: StatsStore;
  readonly name: string;
  readonly process: StatsProcess;
  readonly now: () => number;
  readonly inFlight: () => InFlight;
}

/**
 * Writes what this process counted into its slot of a shared store, and reads the slots of the others.
 * A process that takes a slot keeps what its predecessor counted, so a deployment loses nothing.
 */
export class Sharing {
  readonly #parts: SharingParts;
  #slot: Slot | undefined;
  #hour = emptyCounts(HOUR);
  #day = emptyCounts(DAY);
  /** What came since the counts were written last. */
  #unsaved = unsavedCounts();
  #savedDayAt = -1;

  constructor(parts: SharingParts) {
    this.#parts = parts;
  }

  add(outcome: Outcome, at: number): void {
    this.#hour.own.add(outcome, at);
    this.#day.own.add(outcome, at);
    this.#unsaved.hour.add(outcome, at);
    this.#unsaved.day.add(outcome, at);
  }

  /**
   * Writes what was counted.
   * @throws Error if no slot is free, or if the store fails
   */
  async save(): Promise<void> {
    const { store, name, now } = this.#parts;
    if (this.#slot && !(await this.#slot.renew())) this.#lose();
    this.#slot ??= await this.#take();
    const step = Math.floor(now() / DAY.step);
    const withDay = step !== this.#savedDayAt;
    const saving = this.#unsaved;
    this.#unsaved = unsavedCounts();
    try {
      await saveSlot(store, name, this.#slot.number, this.#content(), withDay);
    } catch (error) {
      this.#unsaved.hour.merge(saving.hour, now());
      this.#unsaved.day.merge(saving.day, now());
      throw error;
    }
    this.#savedDayAt = step;
  }

  /** What all processes counted, this one first. The own counts are those of now. */
  async load(): Promise<SlotContent[]> {
    const { store, name, now } = this.#parts;
    const contents = [this.#content()];
    for (let first = 0; first < MAX_SLOTS; first += AT_ONCE) {
      const slots = Array.from({ length: AT_ONCE }, (_, index) => first + index);
      const others = slots.filter((slot) => slot !== this.#slot?.number);
      const loaded = await Promise.all(others.map((slot) => loadSlot(store, name, slot, now())));
      const found = loaded.filter((content) => content !== undefined);
      contents.push(...found);
      // Slots are taken in order, and never emptied.
      if (found.length < others.length) break;
    }
    return contents;
  }

  /** Writes the last counts and frees the slot for another process. */
  async close(): Promise<void> {
    const slot = this.#slot;
    if (!slot) return;
    this.#savedDayAt = -1;
    await this.save();
    await slot.release();
  }

  async #take(): Promise<Slot> {
    const { store, name, now } = this.#parts;
    const slot = await Slot.take(store, name, now());
    if (!slot) throw new Error(`More than ${MAX_SLOTS} processes share their statistics.`);
    const past = await loadSlot(store, name, slot.number, now());
    if (past) {
      this.#hour.before.merge(past.hour.own, now());
      this.#hour.before.merge(past.hour.before, now());
      this.#day.before.merge(past.day.own, now());
      this.#day.before.merge(past.day.before, now());
    }
    this.#savedDayAt = -1;
    return slot;
  }

  /** What was written stays in the slot, for whoever takes it. Only the rest is ours. */
  #lose(): void {
    const { now } = this.#parts;
    this.#slot = undefined;
    this.#hour = emptyCounts(HOUR);
    this.#day = emptyCounts(DAY);
    this.#hour.own.merge(this.#unsaved.hour, now());
    this.#day.own.merge(this.#unsaved.day, now());
  }

  #content(): SlotContent {
    const { process, now, inFlight } = this.#parts;
    return {
      process,
      seenAt: now(),
      inFlight: inFlight(),
      hour: this.#hour,
      day: this.#day,
    };
  }
}

const emptyCounts = (division: typeof HOUR): SlotCounts => ({
  own: new CountSeries(division),
  before: new CountSeries(division),
});

const unsavedCounts = () => ({ hour: new CountSeries(HOUR), day: new CountSeries(DAY) });
