import { SimulatorError } from './errors.ts';

/** A change of a record. Ask the record's owner for its current state. */
export interface Change {
  readonly kind:
    'rule' | 'call' | 'event' | 'mail' | 'message' | 'clock' | 'chaos' | 'secret' | 'reset';
  /** The `_id` of the record. Absent for kinds with a single record. */
  readonly id?: string;
}

/** Reports changes to the stream of the control API. */
export class ChangeEmitter {
  readonly #listeners = new Set<(change: Change) => void>();

  emit(kind: Change['kind'], id?: string): void {
    const change = id === undefined ? { kind } : { kind, id };
    for (const listener of this.#listeners) listener(change);
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** How many records of a kind are kept, and which of them may be removed. */
interface Keeping<Row> {
  readonly keep: number;
  /** Called for the oldest ones, until one may be removed. */
  readonly isFinished: (row: Row) => boolean;
  readonly onRemoved?: (row: Row) => void;
}

/** The records of one kind, in the order of creation. They are immutable: a change replaces one. */
export class Records<Row extends { readonly _id: string }> {
  readonly #kind: Change['kind'];
  readonly #changes: ChangeEmitter;
  readonly #keeping: Keeping<Row> | undefined;
  readonly #rows = new Map<string, Row>();
  #created = 0;

  /** @param keeping all are kept without it */
  constructor(kind: Change['kind'], changes: ChangeEmitter, keeping?: Keeping<Row>) {
    this.#kind = kind;
    this.#changes = changes;
    this.#keeping = keeping;
  }

  /** The number of records that were created, including those that have been removed. */
  get created(): number {
    return this.#created;
  }

  list(): Row[] {
    return [...this.#rows.values()];
  }

  find(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** @throws SimulatorError `not-found` */
  get(id: string): Row {
    const row = this.#rows.get(id);
    if (!row) throw new SimulatorError('not-found', `No ${this.#kind} has this id.`);
    return row;
  }

  put(row: Row): Row {
    const isNew = !this.#rows.has(row._id);
    this.#rows.set(row._id, row);
    this.#changes.emit(this.#kind, row._id);
    if (isNew) {
      this.#created++;
      this.#removeOldest();
    }
    return row;
  }

  delete(id: string): void {
    this.#rows.delete(id);
    this.#changes.emit(this.#kind, id);
  }

  /** Removes all records. The caller reports a reset. */
  clear(): void {
    this.#rows.clear();
    this.#created = 0;
  }

  #removeOldest(): void {
    if (!this.#keeping || this.#rows.size <= this.#keeping.keep) return;
    for (const row of this.#rows.values()) {
      if (!this.#keeping.isFinished(row)) continue;
      this.delete(row._id);
      this.#keeping.onRemoved?.(row);
      return;
    }
  }
}

/** A copy of a record without some of its fields. */
export function omit<Whole extends object, Name extends keyof Whole>(
  record: Whole,
  ...names: Name[]
): Omit<Whole, Name> {
  const copy = { ...record };
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- this is a copy
  for (const name of names) delete copy[name];
  return copy;
}
