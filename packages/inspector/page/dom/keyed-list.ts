/** One row's element, and how it is brought up to date. */
export interface KeyedRow<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
}

/**
 * Keeps the children of an element in step with a list. An element stays as long as its key does,
 * so focus and open parts stay too; an item that is the same object is not drawn again.
 */
export class KeyedList<Item> {
  readonly #parent: Element;
  readonly #keyOf: (item: Item) => string;
  readonly #make: (item: Item) => KeyedRow<Item>;
  #rows = new Map<string, { row: KeyedRow<Item>; item: Item }>();

  constructor(
    parent: Element,
    keyOf: (item: Item) => string,
    make: (item: Item) => KeyedRow<Item>,
  ) {
    this.#parent = parent;
    this.#keyOf = keyOf;
    this.#make = make;
  }

  render(items: readonly Item[]): void {
    const old = this.#rows;
    this.#rows = new Map(items.map((item) => [this.#keyOf(item), this.#rowFor(item)]));
    for (const [key, { row }] of old) if (!this.#rows.has(key)) row.element.remove();
    let next = this.#parent.firstElementChild;
    for (const { row } of this.#rows.values()) {
      if (row.element === next) next = next.nextElementSibling;
      else this.#parent.insertBefore(row.element, next);
    }
  }

  /** Draws all rows again: for what they show besides their item. */
  refresh(): void {
    for (const { row, item } of this.#rows.values()) row.update(item);
  }

  #rowFor(item: Item): { row: KeyedRow<Item>; item: Item } {
    const known = this.#rows.get(this.#keyOf(item));
    if (known?.item === item) return known;
    if (!known) return { row: this.#make(item), item };
    known.row.update(item);
    return { row: known.row, item };
  }
}
