/** What changed. The record itself is to be asked of its owner. */
export interface Change {
  readonly kind:
    'rule' | 'call' | 'delivery' | 'mail' | 'message' | 'clock' | 'chaos' | 'secret' | 'reset';
  /** The `_id` of the record; absent where there is but one. */
  readonly id?: string;
}

/** Tells whoever wants to know (the inspector's stream, the snapshot on disk) that something changed. */
export class Journal {
  readonly #listeners = new Set<(change: Change) => void>();

  record(kind: Change['kind'], id?: string): void {
    const change = id === undefined ? { kind } : { kind, id };
    for (const listener of this.#listeners) listener(change);
  }

  /** @returns ends the subscription */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
