/** A change of a record. Ask the record's owner for its current state. */
export interface Change {
  readonly kind:
    'rule' | 'call' | 'delivery' | 'mail' | 'message' | 'clock' | 'chaos' | 'secret' | 'reset';
  /** The `_id` of the record. Absent for kinds with a single record. */
  readonly id?: string;
}

/** Reports changes to the inspector's stream and to the snapshot writer. */
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
